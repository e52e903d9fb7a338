// Access control, and the contents of requests.
#include "view/access_control.hpp"

#include <gtest/gtest.h>

#include "tare/error.hpp"
#include "view/query.hpp"

namespace tare::view {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

AccessControl own_access_control() { return AccessControl(std::string(kToken), {"127.0.0.1:8080", "localhost:8080"}); }

Head good_head(const std::string& target) {
  Head head;
  head.method = "GET";
  head.target = target;
  head.hosts = {"127.0.0.1:8080"};
  return head;
}

std::string at(std::string_view rest) { return "/" + std::string(kToken) + "/" + std::string(rest); }

std::string refused(const Head& head) {
  Admission admission;
  const auto refusal = own_access_control().refuse(head, admission);
  return refusal ? std::string(refusal->rule) : "";
}

std::string rule_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.rule();
  }
  return {};
}

TEST(ViewDoor, LetsInWhoHasTheLink) {
  Admission admission;
  const std::string page = at(""), api = at("api/tensors?count=5");
  EXPECT_FALSE(own_access_control().refuse(good_head(page), admission));
  EXPECT_EQ(admission.kind, RequestKind::page);
  EXPECT_FALSE(own_access_control().refuse(good_head(api), admission));
  EXPECT_EQ(admission.kind, RequestKind::api);
  EXPECT_EQ(admission.target, "tensors?count=5");
  EXPECT_FALSE(admission.change);
  Head post = good_head(api);
  post.method = "POST";
  post.origins = {"http://localhost:8080"};
  post.site = "same-origin";
  EXPECT_FALSE(own_access_control().refuse(post, admission));
  EXPECT_TRUE(admission.change);
}

TEST(ViewDoor, RefusesEverybodyElse) {
  const std::string api = at("api/overview");
  for (const std::string target : {"/", "", "/api/overview", "/0123456789abcdef0123456789abcdee/api/overview",
                                   "/0123/api/overview", "*", "http://x/"})
    EXPECT_TRUE(refused(good_head(target)) == "view.token" || refused(good_head(target)) == "view.request") << target;
  Head head = good_head(api);
  head.hosts = {"attacker.example:8080"};
  EXPECT_EQ(refused(head), "view.host") << "a name that was made to lead here";
  head.hosts = {"127.0.0.1:8081"};
  EXPECT_EQ(refused(head), "view.host");
  head.hosts = {};
  EXPECT_EQ(refused(head), "view.host");
  head.hosts = {"127.0.0.1:8080", "127.0.0.1:8080"};
  EXPECT_EQ(refused(head), "view.host") << "two of them";
  head = good_head(api);
  for (const std::string_view origin :
       {"http://attacker.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081"}) {
    head.origins = {origin};
    EXPECT_EQ(refused(head), "view.origin") << origin;
  }
  head.origins = {};
  head.site = "cross-site";
  EXPECT_EQ(refused(head), "view.origin");
  head = good_head(api);
  for (const std::string_view method : {"PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", ""}) {
    head.method = method;
    EXPECT_EQ(refused(head), "view.method") << method;
  }
  head = good_head(api);
  head.body_bytes = 1;
  EXPECT_EQ(refused(head), "view.body");
  const std::string elsewhere = at("../../etc/passwd");
  EXPECT_EQ(refused(good_head(elsewhere)), "view.endpoint");
  Admission admission;
  const auto refusal = AccessControl(std::string(kToken), {"127.0.0.1:8080"}).refuse(good_head(elsewhere), admission);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->kind, ErrorKind::not_found) << "as its status says";
}

// The error for an unknown host explains how to allow tunnels and other names of the machine.
TEST(ViewDoor, ARefusedHostIsToldWhatToDo) {
  const std::string api = at("api/overview");
  Head head = good_head(api);
  head.hosts = {"workstation.lan:8080"};
  Admission admission;
  const AccessControl access(std::string(kToken), {"127.0.0.1:8080"}, "do this");
  const auto refusal = access.refuse(head, admission);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 403);
  EXPECT_EQ(refusal->sentence, "do this");
  EXPECT_FALSE(AccessControl(std::string(kToken), {"127.0.0.1:8080", "workstation.lan:8080"}).refuse(head, admission));
}

TEST(ViewDoor, HostsAsClientsSpellThem) {
  EXPECT_EQ(spelled_host("workstation.lan", 8080), "workstation.lan:8080");
  EXPECT_EQ(spelled_host("workstation.lan", 80), "workstation.lan");
  EXPECT_EQ(spelled_host("localhost:9000", 8080), "localhost:9000") << "the other end of a tunnel";
  EXPECT_EQ(spelled_host("localhost:80", 8080), "localhost");
  EXPECT_EQ(spelled_host("[::1]", 8080), "[::1]:8080");
  EXPECT_EQ(spelled_host("[::1]:9000", 8080), "[::1]:9000");
  for (const std::string_view name : {"", "http://x", "x/", "x:", "x:y", "x:123456", ":80", "[::1", "a b", "x:80:80"})
    EXPECT_EQ(rule_of([&] { static_cast<void>(spelled_host(name, 1)); }), "view.host") << name;
}

TEST(ViewDoor, FollowingTheLinkFromElsewhereShowsThePageOnly) {
  const std::string page = at(""), api = at("api/overview");
  Head head = good_head(page);
  head.site = "cross-site";
  EXPECT_EQ(refused(head), "");
  head.target = api;
  EXPECT_EQ(refused(head), "view.origin");
}

TEST(ViewDoor, TokensAreNewEachTime) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
}

TEST(ViewDoor, RateIsBounded) {
  Rate rate(10, 3);
  const Rate::Clock::time_point start{};
  EXPECT_TRUE(rate.admit(start) && rate.admit(start) && rate.admit(start));
  EXPECT_FALSE(rate.admit(start));
  EXPECT_TRUE(rate.admit(start + std::chrono::milliseconds(150)));
  EXPECT_FALSE(rate.admit(start + std::chrono::milliseconds(160)));
}

TEST(ViewRequest, NamesAndParameters) {
  const Query query = Query::parse("tensors?search=a+b%2Fc&count=5&&flag=1&empty");
  EXPECT_EQ(query.endpoint(), "tensors");
  EXPECT_EQ(query.text("search"), "a b/c");
  EXPECT_EQ(query.number("count", 1, 0, 10), 5U);
  EXPECT_TRUE(query.flag("flag"));
  EXPECT_EQ(query.text("empty", "x"), "");
  EXPECT_EQ(query.text("absent", "x"), "x");
  static constexpr std::string_view kWords[] = {"up", "down"};
  EXPECT_EQ(query.choice("way", kWords), "up");
}

TEST(ViewRequest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(rule_of([] { Query::parse(std::string(5000, 'a')); }), "view.request");
  EXPECT_EQ(rule_of([] { Query::parse("a?b=%4"); }), "view.request");
  EXPECT_EQ(rule_of([] { Query::parse("a?b=%zz"); }), "view.request");
  std::string many = "a?";
  for (int i = 0; i < 30; ++i) many += "x=1&";
  EXPECT_EQ(rule_of([&] { Query::parse(many); }), "view.request");
  for (const std::string_view text : {"a?n=-1", "a?n=1e3", "a?n=11", "a?n=18446744073709551616", "a?n= 1", "a?n="})
    EXPECT_EQ(rule_of([&] { static_cast<void>(Query::parse(text).number("n", 0, 0, 10)); }), "view.request") << text;
}

}  // namespace
}  // namespace tare::view
