// The small files of a model's directory as trees, and their limits.
#include "resources/json_file.hpp"

#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "resources/big_json.hpp"

namespace tare::resources {
namespace {

using namespace tare::testing;

TEST(JsonFile, KindsOfNumbers) {
  EXPECT_EQ(count_of(Value(7)), 7U);
  EXPECT_EQ(count_of(Value(UINT64_MAX)), UINT64_MAX);
  EXPECT_FALSE(count_of(Value(-7)));
  EXPECT_FALSE(count_of(Value(7.0)));
  EXPECT_FALSE(count_of(Value("7")));
  EXPECT_EQ(number_of(Value(-7)), -7.0);
  EXPECT_EQ(number_of(Value(UINT64_MAX)), 0x1p64);
  EXPECT_EQ(number_of(Value(2.5)), 2.5);
  EXPECT_FALSE(number_of(Value(true)));
}

TEST(JsonFile, ObjectsByKey) {
  const Map root = parse_small_json(R"({"b": [1], "a": "text", "b2": {}, "n": 18446744073709551616})");
  std::string keys;
  for (const Map::Entry* const entry : sorted_entries(root)) keys += entry->first + ' ';
  EXPECT_EQ(keys, "a b b2 n ");
  EXPECT_EQ(*get<std::string>(root, "a"), "text");
  EXPECT_EQ(get<Map>(root, "a"), nullptr);
  EXPECT_EQ(get<Map>(root, "c"), nullptr);
  EXPECT_EQ(*get<double>(root, "n"), 0x1p64);
  EXPECT_EQ(to_json(parse_small_json(R"({"k": 1, "a": 0, "k": [2], "k": 3})")), R"({"k":3,"a":0})") << "as in Python";
}

// The libraries that read such files refuse it; whether simdjson does depends on its version.
TEST(JsonFile, AByteOrderMark) {
  const auto large = error_of([] { BigJson("\xEF\xBB\xBF{}"); });
  ASSERT_TRUE(large);
  EXPECT_EQ(large->rule(), "json.syntax");
  EXPECT_NE(large->sentence().find("byte-order mark"), std::string::npos) << large->sentence();
  EXPECT_EQ(to_json(parse_small_json("\xEF\xBB\xBF{}")), "{}") << "small files are read by a parser of ours";
}

TEST(JsonFile, ErrorsHaveTheirPlace) {
  const auto error = error_of([] { parse_small_json("{\"a\": 1,\r\n \"b\": nul}"); }).value();
  EXPECT_EQ(error.rule(), "json.syntax");
  EXPECT_EQ(error.offset(), 16U);
  EXPECT_EQ(error.sentence(), "not JSON: expected a value, found \"nul\" (line 2, column 7)");
  const auto list = error_of([] { parse_small_json("[1]"); }).value();
  EXPECT_EQ(list.rule(), "json.form");
  EXPECT_EQ(list.sentence(), "expected a JSON object");
  EXPECT_EQ(error_of([] { parse_small_json_list("{}"); }).value().sentence(), "expected a JSON list");
  // Python's NaN is accepted, and errors after it have the right offset.
  EXPECT_EQ(error_of([] { parse_small_json("{\"a\": NaN, \"b\": x}"); }).value().offset(), 16U);
  EXPECT_EQ(error_of([] { parse_small_json("{\"a\":" + std::string(64, '[')); }).value().offset(), 68U);
  // A server's answer is recognised, unless the text is too deep.
  EXPECT_TRUE(error_of([] { parse_small_json("{\"error\":"); }).value().sentence().starts_with("a server's refusal"));
  EXPECT_EQ(rule_of([] { parse_small_json("{\"error\":" + std::string(64, '[')); }), "json.depth");
}

TEST(JsonFile, ManyValuesTakeBoundedMemory) {
  std::string text = "{\"x\":[0";
  while (text.size() < (std::size_t{4} << 20)) text += ",0";
  text += "]}";
  const std::size_t peak = peak_during([&] { EXPECT_EQ(rule_of([&] { parse_small_json(text); }), "open.values"); });
  EXPECT_LT(kCountsMemory ? peak : 0, 60 * text.size());
  std::string fewer = "{\"x\":[0";
  while (fewer.size() < 250'000) fewer += ",0";
  EXPECT_EQ(parse_small_json(fewer + "]}").find("x")->get<List>()->size(), fewer.size() / 2 - 2);
}

}  // namespace
}  // namespace tare::resources
