// Paths are resolved as realpath does it, and long chains of links have a price.
#include "io/resolve.hpp"

#include <unistd.h>

#include <filesystem>

#include "base/budget.hpp"
#include "conformance/scratch.hpp"
#include "io/links.hpp"
#include "io/listing.hpp"

namespace tare {
namespace {

using namespace tare::testing;
namespace fs = std::filesystem;

class Resolve : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch_ / "home/inner/deep");
    put_file(scratch_ / "home/file", to_bytes("x"));
    const auto link = [&](const std::string& to, const char* name) { fs::create_symlink(to, scratch_ / name); };
    link("home", "link");
    link("home/file", "file_link");
    link("home/", "slash");
    link("nothing", "dangling");
    link("self", "self");
    link("there", "here");
    link("here", "there");
    link("link/inner/../../home/./file", "winding");
    link("link/inner/..", "up");
    link("file_link/..", "through_a_file");
    link(scratch_ / "home", "absolute");
    link("/", "root");
  }
  std::string in(const std::string& name) const { return scratch_ / name; }

  // Each leads through the ones before it; the text of each has `names` further names.
  void chain(int links, int names) {
    std::string winding;
    for (int i = 0; i < names / 2; ++i) winding += "home/../";
    fs::create_symlink(winding + "home/file", scratch_ / "c0");
    for (int i = 1; i < links; ++i)
      fs::create_symlink(winding + "c" + std::to_string(i - 1), scratch_ / ("c" + std::to_string(i)));
  }

  const Scratch scratch_;
};

// A name that a file states is never an address, although it may be spelled like one.
TEST(PathIn, NamesAreNoAddresses) {
  EXPECT_EQ(io::path_in("", "a/b"), "a/b");
  EXPECT_EQ(io::path_in("d", "hf:a/b"), "d/hf:a/b");
  EXPECT_EQ(io::path_in("", "hf:a/b/c"), "./hf:a/b/c");
  EXPECT_EQ(io::path_in("", "https://host/x"), "./https://host/x");
}

TEST_F(Resolve, AsRealpathDoes) {
  for (const char* name : {"",
                           "home",
                           "home/",
                           "home/file",
                           "home/file/",
                           "home/file/..",
                           "home/none",
                           "home/none/..",
                           "link",
                           "link/file",
                           "link/inner/deep",
                           "link/inner/../file",
                           "file_link",
                           "file_link/",
                           "slash",
                           "slash/file",
                           "dangling",
                           "self",
                           "here",
                           "winding",
                           "up",
                           "up/file",
                           "through_a_file",
                           "absolute",
                           "absolute/inner/",
                           "root",
                           "./home//inner",
                           "home/inner/deep/../../../link/file"}) {
    std::error_code expected, found, below;
    const std::string path = in(name);
    const fs::path real = fs::canonical(path, expected);
    EXPECT_EQ(io::resolved(path, found), real.string()) << name;
    EXPECT_EQ(found.value(), expected.value()) << name;
    EXPECT_EQ(io::resolved_below(fs::canonical(scratch_.path()).string(), name, below), real.string()) << name;
    EXPECT_EQ(below.value(), expected.value()) << name;
  }
  for (const char* path : {"/", "//", "/..", ".", "..", "./."}) {
    std::error_code found;
    EXPECT_EQ(io::resolved(path, found), fs::canonical(path).string()) << path;
  }
  std::error_code found;
  EXPECT_EQ(io::resolved("", found), "");
  EXPECT_EQ(found, std::errc::no_such_file_or_directory);
}

TEST_F(Resolve, AsManyLinksAsTheKernelFollows) {
  chain(42, 0);
  for (const char* name : {"c39", "c40", "c41"}) {
    std::error_code expected, found;
    const fs::path real = fs::canonical(in(name), expected);
    EXPECT_EQ(io::resolved(in(name), found), real.string()) << name;
    EXPECT_EQ(found.value(), expected.value()) << name;
  }
}

TEST_F(Resolve, OrdinaryLinksAreFree) {
  fs::create_symlink("../../../home/inner/deep/../../file", scratch_ / "home/inner/deep/link");
  const Spending spending({.values = 0, .steps = 0, .bytes = 0});
  std::error_code failed;
  for (int i = 0; i < 1000; ++i) EXPECT_NE(io::resolved(in("home/inner/deep/link"), failed), "");
  EXPECT_EQ(io::names_in(in("home/inner/deep"), failed).size(), 1U);
}

TEST_F(Resolve, LongChainsHaveAPrice) {
  chain(30, 100);
  for (int i = 0; i < 1000; ++i) fs::create_symlink("c29", scratch_ / ("LICENSE" + std::to_string(i)));
  const Spending spending;
  const auto listed = error_of([&] {
    std::error_code failed;
    io::names_in(scratch_.path(), failed);
  });
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->rule(), "open.steps");
  const Links links(scratch_.path());
  const auto looked_at = error_of([&] {
    for (int i = 0; i < 1000; ++i) links.outside(in("LICENSE" + std::to_string(i)));
  });
  ASSERT_TRUE(looked_at);
  EXPECT_EQ(looked_at->rule(), "open.steps");
}

}  // namespace
}  // namespace tare
