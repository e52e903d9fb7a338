// Addresses, networks, and the cache on disk. What needs servers is in tests/remote.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "conformance/scratch.hpp"
#include "io/remote/block_cache.hpp"
#include "io/remote/bucket.hpp"
#include "io/remote/credential.hpp"
#include "io/remote/extent.hpp"
#include "io/remote/hub.hpp"
#include "io/remote/reach.hpp"
#include "io/remote/url.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::io::remote;
namespace fs = std::filesystem;

std::string rule_of_url(const std::string& text) {
  try {
    return parse_url(text).text();
  } catch (const Error& error) {
    return error.rule();
  }
}

std::string resolved_url(const std::string& base, const std::string& location) {
  try {
    return resolve(parse_url(base), location).text();
  } catch (const Error& error) {
    return error.rule();
  }
}

TEST(RemoteUrl, IsTakenApartInOneWay) {
  EXPECT_EQ(rule_of_url("https://Example.ORG/a/b?c=d#e"), "https://example.org/a/b?c=d");
  EXPECT_EQ(rule_of_url("https://h"), "https://h/");
  EXPECT_EQ(rule_of_url("https://h?x"), "https://h/?x");
  EXPECT_EQ(rule_of_url("https://h:443/x"), "https://h/x");
  EXPECT_EQ(rule_of_url("http://h:443/x"), "http://h:443/x");
  EXPECT_EQ(rule_of_url("http://[::1]:80/x"), "http://[::1]/x");
  EXPECT_EQ(rule_of_url("https://h/a b\xC3\xA4%20"), "https://h/a%20b%C3%A4%20");
  for (const char* const bad :
       {"https://",      "https:///x",       "ftp://h/x",       "https://a@h/x",      "https://a:b@h/x",
        "https://h:0/",  "https://h:65536/", "https://h:/",     "https://h:1x/",      "https://h h/",
        "https://h\\x/", "https://[::1/x",   "https://[]/x",    "https://[g]/x",      "https://.h/",
        "https://h/..",  "https://h/../x",   "https://h/a/./b", "https://h/%2e%2E/x", "https://h/.%2e"})
    EXPECT_EQ(rule_of_url(bad), "remote.url") << bad;
  EXPECT_EQ(rule_of_url("https://h/" + std::string(9000, 'a')), "remote.url");
}

TEST(RemoteUrl, NoMessageHasAPasswordOrAQuery) {
  for (const char* const bad : {"https://me:secret@h/x", "https://h/../x?secret", "https://h:x/?secret"}) try {
      parse_url(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
  EXPECT_EQ(parse_url("https://h/x?secret").shown(), "https://h/x");
}

TEST(RemoteUrl, LocationsAreResolved) {
  const std::string base = "https://h:8443/a/b?q";
  EXPECT_EQ(resolved_url(base, "https://other/x"), "https://other/x");
  EXPECT_EQ(resolved_url(base, "HTTP://other/x"), "http://other/x");
  EXPECT_EQ(resolved_url(base, "//other/x"), "https://other/x");
  EXPECT_EQ(resolved_url(base, "/x?y"), "https://h:8443/x?y");
  EXPECT_EQ(resolved_url(base, "x"), "https://h:8443/a/x");
  EXPECT_EQ(resolved_url(base, "?y"), "https://h:8443/a/b?y");
  for (const char* const bad :
       {"", "file:///etc/passwd", "javascript:1", "x y", "\\\\other\\x", "/../x", "https://a@b/", "h:1/x"})
    EXPECT_EQ(resolved_url(base, bad), "remote.redirect.form") << bad;
}

TEST(RemoteReach, NetworksOfAddresses) {
  const std::pair<const char*, Reach> kNets[] = {{"8.8.8.8", Reach::public_net},
                                                 {"10.1.2.3", Reach::private_net},
                                                 {"172.15.0.1", Reach::public_net},
                                                 {"172.16.0.1", Reach::private_net},
                                                 {"172.31.255.255", Reach::private_net},
                                                 {"172.32.0.1", Reach::public_net},
                                                 {"192.168.1.1", Reach::private_net},
                                                 {"100.64.0.1", Reach::private_net},
                                                 {"100.128.0.1", Reach::public_net},
                                                 {"127.0.0.1", Reach::loopback},
                                                 {"127.255.0.1", Reach::loopback},
                                                 {"0.0.0.0", Reach::nothing},
                                                 {"169.254.169.254", Reach::link_local},
                                                 {"224.0.0.1", Reach::nothing},
                                                 {"255.255.255.255", Reach::nothing},
                                                 {"::1", Reach::loopback},
                                                 {"::", Reach::nothing},
                                                 {"fe80::1", Reach::link_local},
                                                 {"fd00::1", Reach::private_net},
                                                 {"2001:4860::1", Reach::public_net},
                                                 {"::ffff:10.0.0.1", Reach::private_net},
                                                 {"::ffff:8.8.8.8", Reach::public_net},
                                                 {"64:ff9b::127.0.0.1", Reach::loopback},
                                                 {"64:ff9b:1::1", Reach::private_net},
                                                 {"2002:a00:1::", Reach::private_net},
                                                 {"ff02::1", Reach::nothing},
                                                 {"::127.0.0.1", Reach::loopback}};
  for (const auto& [address, reach] : kNets) EXPECT_EQ(reach_of_text(address), reach) << address;
}

// Only these may be asked without TLS, and get a token then.
TEST(RemoteReach, NamesOfThisMachine) {
  for (const char* const host : {"localhost", "127.0.0.1", "127.8.9.10", "::1"}) EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* const host : {"127.example.org", "127.0.0.1.example.org", "localhost.example.org", "8.8.8.8", ""})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(RemoteReach, ServersMayNotLeadIntoOtherNetworks) {
  constexpr Reach kAll[] = {Reach::nothing, Reach::public_net, Reach::private_net, Reach::link_local, Reach::loopback};
  for (const Reach from : kAll) {
    EXPECT_TRUE(may_lead(from, Reach::public_net));
    EXPECT_FALSE(may_lead(from, Reach::link_local));
    EXPECT_FALSE(may_lead(from, Reach::nothing));
    EXPECT_EQ(may_lead(from, Reach::private_net), from == Reach::private_net);
    EXPECT_EQ(may_lead(from, Reach::loopback), from == Reach::loopback);
  }
}

TEST(RemoteHub, AddressesOfRepositories) {
  const auto spelled = [](const char* address) {
    try {
      const HubPath path = parse_hub(address);
      return path.repository + "|" + path.revision + "|" + path.path;
    } catch (const Error& error) {
      return error.rule();
    }
  };
  EXPECT_EQ(spelled("hf://org/name"), "org/name|main|");
  EXPECT_EQ(spelled("hf:org/name/"), "org/name|main|");
  EXPECT_EQ(spelled("hf:org/name/a/b.gguf"), "org/name|main|a/b.gguf");
  EXPECT_EQ(spelled("hf:org/name@v1/a"), "org/name|v1|a");
  EXPECT_EQ(spelled("hf:org/name@refs/pr/3/a"), "org/name|refs/pr/3|a");
  EXPECT_EQ(spelled("hf:org/name@refs%2Fpr%2F3"), "org/name|refs/pr/3|");
  for (const char* const bad :
       {"hf:", "hf://", "hf:name", "hf:org/", "hf:/name", "hf:../name", "hf:org/..", "hf:datasets/x", "hf:spaces/x",
        "hf:org/name@", "hf:org/name@/x", "hf:org/name@../x", "hf:o rg/name", "hf:org/na?me"})
    EXPECT_EQ(spelled(bad), "remote.url") << bad;
}

// What botocore makes of the same requests.
TEST(RemoteSigning, IsThatOfAmazonsLibrary) {
  const auto signature = [](const char* url, const char* session) {
    const auto headers =
        sign(parse_url(url), {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", session, "us-east-1"},
             "20130524T000000Z");
    return headers[0].substr(headers[0].rfind('=') + 1);
  };
  EXPECT_EQ(signature("https://examplebucket.s3.amazonaws.com/a%20b/test%3D%2B.txt", ""),
            "c1aef8a193f81f1751bf4a1871d3c585608afdd798333964d3bd5d4168213395");
  EXPECT_EQ(signature("http://localhost:5000/bucket/key?versionId=x&a", "token/+="),
            "b6308700b6f4e8cd466fe6a24518672b769c6f20435cbccb0a07a355fba7d5cf");
}

TEST(RemoteSigning, GoesToOneServerAlone) {
  const Credential token{.origin = "https://h", .token = "secret"};
  EXPECT_EQ(token.headers(parse_url("https://h/x")).size(), 1u);
  for (const char* const other : {"https://other/x", "http://h/x", "https://h:444/x", "https://h.other/x"})
    EXPECT_TRUE(token.headers(parse_url(other)).empty()) << other;
  const Credential plain{.origin = "http://h", .token = "secret"},
      near{.origin = "http://localhost:5", .token = "secret"};
  EXPECT_TRUE(plain.headers(parse_url("http://h/x")).empty());
  EXPECT_EQ(near.headers(parse_url("http://localhost:5/x")).size(), 1u);
  EXPECT_TRUE(Credential{}.headers(parse_url("https://h/x")).empty());
}

TEST(RemoteSigning, KeysOfFiles) {
  const std::string text =
      "# mine\n[default]\naws_access_key_id = A\n[profile x]\r\n region=eu\r\n; no\n[ y ]\naws_access_key_id=B=\n";
  EXPECT_EQ(value_in(text, "default", "aws_access_key_id"), "A");
  EXPECT_EQ(value_in(text, "profile x", "region"), "eu");
  EXPECT_EQ(value_in(text, "y", "aws_access_key_id"), "B=");
  EXPECT_EQ(value_in(text, "default", "region"), "");
  EXPECT_EQ(value_in(text, "none", "region"), "");
  EXPECT_EQ(value_in("aws_access_key_id=A", "default", "aws_access_key_id"), "");
}

TEST(RemoteExtent, IsThatOfTheSourceAndTheThread) {
  const SourcePtr a = memory_source({}), b = memory_source({});
  EXPECT_FALSE(reading_until(*a, 0));
  const ReadingUntil outer(*a, 10);
  EXPECT_EQ(reading_until(*a, 9), 10u);
  EXPECT_FALSE(reading_until(*a, 10));
  EXPECT_FALSE(reading_until(*b, 0));
  {
    const ReadingUntil inner(*b, 5);
    EXPECT_EQ(reading_until(*b, 0), 5u);
    EXPECT_FALSE(reading_until(*a, 0));
  }
  EXPECT_EQ(reading_until(*a, 0), 10u);
}

class RemoteCache : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1);
    ::unsetenv("TARE_CACHE_SIZE");
  }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(cache_folder()))
      if (entry.is_regular_file() && entry.path().filename() != "name") found.push_back(entry.path());
    return found;
  }

  const Scratch scratch_;
};

TEST_F(RemoteCache, KeepsParts) {
  CachedFile file("sha256:aa", "https://h/x");
  EXPECT_FALSE(file.find(0));
  file.keep(100, to_bytes("abc"));
  EXPECT_FALSE(file.find(99));
  EXPECT_FALSE(file.find(103));
  CachedFile again("sha256:aa", "https://h/x"), other("sha256:ab", "https://h/x"), none("", "https://h/x");
  for (CachedFile* const each : {&file, &again}) {
    const auto found = each->find(102);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first, 100u);
    EXPECT_EQ(found->second, to_bytes("abc"));
  }
  EXPECT_FALSE(other.find(100));
  none.keep(0, to_bytes("abc"));
  EXPECT_FALSE(none.find(0));
  again.keep(101, to_bytes("bcdef"));
  EXPECT_EQ(again.find(101)->second, to_bytes("bcdef"));  // the longer one
  const auto entries = list_cache();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "https://h/x");
  EXPECT_EQ(entries[0].parts, 2u);
  EXPECT_GT(empty_cache(), 0u);
  EXPECT_TRUE(list_cache().empty());
  EXPECT_FALSE(again.find(101));
}

TEST_F(RemoteCache, ForgetsDamagedParts) {
  for (int damage = 0; damage < 4; ++damage) {
    CachedFile("key", "x").keep(0, to_bytes("some bytes"));
    ASSERT_EQ(files().size(), 1u);
    const fs::path part = files()[0];
    std::ifstream in(part, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    if (damage == 0) bytes.pop_back();
    if (damage == 1) bytes.back() ^= 1;
    if (damage == 2) bytes[3] ^= 1;
    if (damage == 3) bytes += 'x';
    std::ofstream(part, std::ios::binary) << bytes;
    EXPECT_FALSE(CachedFile("key", "x").find(0)) << damage;
    EXPECT_TRUE(files().empty()) << damage;
  }
}

TEST_F(RemoteCache, IgnoresWhatIsNotItsOwn) {
  CachedFile("key", "x").keep(0, to_bytes("some bytes"));
  const fs::path folder = files()[0].parent_path();
  put_file((folder / "1-18446744073709551615").string(), to_bytes("x"));
  put_file((folder / "5-7x").string(), to_bytes("x"));
  put_file((folder / ".draft-1-1").string(), to_bytes("x"));
  put_file((folder.parent_path() / "other").string(), to_bytes("mine"));
  EXPECT_FALSE(CachedFile("key", "x").find(12));
  EXPECT_EQ(CachedFile("key", "x").find(3)->second, to_bytes("some bytes"));
  empty_cache();
  EXPECT_TRUE(fs::exists(folder.parent_path() / "other"));
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(RemoteCache, CanBeTurnedOff) {
  ::setenv("TARE_CACHE_SIZE", "0", 1);
  CachedFile file("key", "x");
  file.keep(0, to_bytes("abc"));
  EXPECT_FALSE(file.find(0));
  EXPECT_TRUE(cache_folder().empty());
  EXPECT_TRUE(list_cache().empty());
  EXPECT_EQ(empty_cache(), 0u);
  ::unsetenv("TARE_CACHE_SIZE");
}

}  // namespace
}  // namespace tare
