// The tree that config.json and its like are read into.
#include "resources/json_tree.hpp"

#include <gtest/gtest.h>

#include <new>

#include "conformance/memory.hpp"
#include "resources/json_file.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kText =
    R"({"b": [1, -2, 2.5, true, null, {"deep": ["x", {}]}], "a": "text", "n": 18446744073709551615, "b2": {}})";

TEST(JsonTree, KindsAndPlaces) {
  const Json root = parse_small_json(kText);
  ASSERT_TRUE(root.is_object());
  EXPECT_EQ(root.size(), 4U);
  std::string keys;
  for (const auto& [key, value] : root.items()) keys += key + (value.is_object() ? "{} " : " ");
  EXPECT_EQ(keys, "a b b2{} n ");
  EXPECT_TRUE(root["a"] == "text");
  EXPECT_TRUE(root["a"] != true);
  EXPECT_EQ(root.find("c"), root.end());
  EXPECT_EQ(root["n"].get<std::uint64_t>(), UINT64_MAX);
  const Json& list = root["b"];
  ASSERT_EQ(list.size(), 6U);
  EXPECT_TRUE(list.front().is_number_unsigned());
  EXPECT_TRUE(list.begin()[1].is_number_integer() && !list.begin()[1].is_number_unsigned());
  EXPECT_EQ(list.begin()[1].get<std::int64_t>(), -2);
  EXPECT_EQ(list.begin()[2].get<double>(), 2.5);
  EXPECT_TRUE(list.begin()[3] == true);
  EXPECT_TRUE(list.begin()[4].is_null());
  EXPECT_TRUE(list.back()["deep"].is_array());
  EXPECT_EQ(list.find("deep"), list.end());
  EXPECT_EQ(root.dump(), R"({"a":"text","b":[1,-2,2.5,true,null,{"deep":["x",{}]}],"b2":{},"n":18446744073709551615})");
}

TEST(JsonTree, OfKeysThatAppearTwiceTheLastCounts) {
  EXPECT_EQ(parse_small_json(R"({"k": 1, "a": 0, "k": [2], "k": 3})").dump(), R"({"a":0,"k":3})");
}

TEST(JsonTree, DumpsAscii) {
  EXPECT_EQ(parse_small_json("{\"\xC3\xA4\": \"\\u0001\\\"\\\\\\n\xF0\x9F\x98\x80\x7F\"}").dump(),
            R"({"\u00e4":"\u0001\"\\\n\ud83d\ude00\u007f"})");
}

TEST(JsonTree, WhatIsNoJsonIsToldWithItsPlace) {
  try {
    parse_small_json("{\"a\": nul}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "json.syntax");
    EXPECT_TRUE(error.offset().has_value());
  }
}

// A destructor that allocates would end the process here.
TEST(JsonTree, LackOfMemoryIsThrownWhereverItIsMet) {
  if (!testing::kCountsMemory) GTEST_SKIP() << "a sanitizer counts memory itself";
  const std::string text = "{\"x\": " + std::string(kText) + ", \"y\": [[1, [2, [3]]], {\"k\": {\"l\": [0]}}]}";
  int refused = 0;
  for (bool done = false; !done; ++refused) {
    ASSERT_LT(refused, 1000);
    testing::fail_allocation(refused);
    try {
      const Json root = parse_json_tree(text);
      done = root["y"].size() == 2;
    } catch (const std::bad_alloc&) {
    }
    testing::fail_allocation(-1);
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace tare::resources
