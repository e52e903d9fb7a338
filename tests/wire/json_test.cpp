// Reading of JSON texts, and spellings that lose nothing.
#include "wire/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <new>

#include "base/simdjson.hpp"
#include "conformance/memory.hpp"
#include "conformance/models.hpp"
#include "wire/value_json.hpp"

namespace tare {
namespace {

using namespace tare::testing;

Value read(std::string_view text, const wire::JsonOptions& options = {}) {
  wire::TreeBounds bounds;
  return wire::read_json(text, bounds, options);
}

// Returns "rule offset: sentence", or the value.
std::string outcome(std::string_view text, const wire::JsonOptions& options = {}) {
  try {
    return to_json(read(text, options));
  } catch (const Error& error) {
    return fmt::format("{} {}: {}", error.rule(), *error.offset(), error.sentence());
  }
}
std::string not_json(std::size_t offset, std::string_view trouble) {
  return fmt::format("json.syntax {}: not JSON: {}", offset, trouble);
}

constexpr std::string_view kText =
    "{ \"b\" :[1,-2, 2.5,\ttrue,null, {\"deep\": [\"x\\u00e4\\n\", {}]}], \r\n\"a\":\"t\xC3\xA4xt\",\"c\":{}}";

TEST(Json, KindsInTheirOrder) {
  const Value root = read(kText);
  ASSERT_NE(root.get<Map>(), nullptr);
  const List& list = *root.get<Map>()->find("b")->get<List>();
  EXPECT_EQ(list.at(0), Value(1));
  EXPECT_EQ(list.at(1), Value(-2));
  EXPECT_EQ(list.at(2), Value(2.5));
  EXPECT_EQ(list.at(3), Value(true));
  EXPECT_TRUE(list.at(4).is_null());
  EXPECT_EQ(to_json(root),
            "{\"b\":[1,-2,2.5,true,null,{\"deep\":[\"x\xC3\xA4\\n\",{}]}],\"a\":\"t\xC3\xA4xt\",\"c\":{}}");
  for (const char* const text : {"1", "\"\"", "null", "false", "[]", "{}"}) EXPECT_EQ(outcome(text), text);
  EXPECT_EQ(outcome("\xEF\xBB\xBF [1]"), "[1]") << "a byte order mark";
}

TEST(Json, Numbers) {
  const auto number = [](std::string_view text) { return read(text); };
  EXPECT_EQ(number("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(number("9223372036854775808"), Value(std::uint64_t{1} << 63));
  EXPECT_EQ(number("18446744073709551615"), Value(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(number("18446744073709551616"), Value(0x1p64));
  EXPECT_EQ(number("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(number("-9223372036854775809"), Value(-0x1p63));
  EXPECT_EQ(number("1000000000000000019884624838656"), Value(1e30)) << "a length in tokenizer_config.json";
  EXPECT_EQ(number("-0"), Value(0));
  EXPECT_TRUE(std::signbit(*number("-0.0").get<double>()));
  EXPECT_EQ(number("1.0"), Value(1.0));
  EXPECT_EQ(number("1E+2"), Value(100.0));
  EXPECT_EQ(number("5e-324"), Value(std::numeric_limits<double>::denorm_min()));
  EXPECT_EQ(number("1.7976931348623157e308"), Value(std::numeric_limits<double>::max()));
  // Too small to be represented, with and without an exponent; and one that only looks like it.
  const std::string zeros(400, '0');
  EXPECT_EQ(number("1e-400"), Value(0.0));
  EXPECT_TRUE(std::signbit(*number("-1e-99999999999999999999").get<double>()));
  EXPECT_EQ(number("0." + zeros + "1"), Value(0.0));
  EXPECT_EQ(number("0." + zeros + "1e401"), Value(1.0));
  EXPECT_EQ(number("0e99999999999999999999"), Value(0.0));
  EXPECT_EQ(outcome(" 1e309"), not_json(1, "the number 1e309 is too large"));
  EXPECT_EQ(outcome("-1e99999999999999999999"), not_json(0, "the number -1e99999999999999999... is too large"));
  EXPECT_EQ(outcome("0." + zeros + "1e800"), not_json(0, "the number 0.000000000000000000... is too large"));
  EXPECT_EQ(outcome("1" + zeros), not_json(0, "the number 10000000000000000000... is too large"));
  for (const char* const word : {"-", "01", "-01", "1.", "1.e5", "1e", "1e+", "0x10", "1_0", "1.5.5", "1-2", "--1"})
    EXPECT_EQ(outcome(word), not_json(0, fmt::format("\"{}\" is not a number", word)));
}

TEST(Json, WordsThatOnlyPythonHas) {
  const wire::JsonOptions python{.python_words = true};
  EXPECT_EQ(outcome(R"([NaN,-Infinity, Infinity,1,"NaN"])", python), R"([null,null,null,1,"NaN"])");
  EXPECT_EQ(outcome("[NaN]"), not_json(1, "expected a value, found \"NaN\""));
  EXPECT_EQ(outcome("[-Infinity]"), not_json(1, "\"-Infinity\" is not a number"));
  EXPECT_EQ(outcome("[-NaN]", python), not_json(1, "\"-NaN\" is not a number"));
  for (const char* const word : {"NaNx", "nan", "Inf", "+Infinity", "True", "None", "nullx", "tru"})
    EXPECT_EQ(outcome(word, python), not_json(0, fmt::format("expected a value, found \"{}\"", word)));
}

TEST(Json, KeysThatAppearTwice) {
  const std::string text = R"({"k":1,"a":0,"k":[2],"\u006b":3})";
  EXPECT_EQ(outcome(text), "json.duplicate 13: the key \"k\" appears twice");
  EXPECT_EQ(outcome(text, {.last_key_counts = true}), R"({"k":3,"a":0})");
  // More keys than are compared one by one.
  std::string many = "{";
  for (int i = 0; i < 1000; ++i) many += fmt::format("\"key{}\":{},", i % 500, i);
  EXPECT_EQ(read(many + "\"z\":1}", {.last_key_counts = true}).get<Map>()->size(), 501U);
  EXPECT_EQ(rule_of([&] { read(many + "\"z\":1}"); }), "json.duplicate");
}

TEST(Json, Strings) {
  EXPECT_EQ(*read(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\u20AC\ud83d\uDE00")").text(),
            "\"\\/\b\f\n\r\tA\u00e4\u20ac\U0001F600");
  EXPECT_EQ(*read(R"("\u0000")").text(), std::string(1, '\0'));
  EXPECT_EQ(*read("\"\x7f\xF0\x9F\x98\x80\"").text(), "\x7f\U0001F600");
  EXPECT_EQ(outcome("[\"ab"), not_json(4, "it ends too early, inside a string"));
  EXPECT_EQ(outcome("[\"ab\\"), not_json(5, "it ends too early, inside a string"));
  EXPECT_EQ(outcome("[\"\\u12"), not_json(6, "it ends too early, inside a string"));
  EXPECT_EQ(outcome("[\"a\nb\"]"), not_json(3, "a string contains the control character 0x0A"));
  EXPECT_EQ(outcome(std::string("\"\0\"", 3)), not_json(1, "a string contains the control character 0x00"));
  EXPECT_EQ(outcome(R"(["a\x41"])"), not_json(3, R"(a string contains "\x", which is not an escape)"));
  EXPECT_EQ(outcome(R"(["\u12g4"])"), not_json(2, R"(a string contains "\u12g4", which is not an escape)"));
  EXPECT_EQ(outcome(R"(["\u+123"])"), not_json(2, R"(a string contains "\u+123", which is not an escape)"));
  for (const char* const half :
       {R"(["\ud800"])", R"(["\udc00"])", R"(["\ud83dx"])", R"(["\ud83d\u0041"])", R"(["\udc00\ud800"])"})
    EXPECT_EQ(outcome(half), not_json(2, fmt::format("a string contains \"{}\", half of a character",
                                                     std::string_view(half).substr(2, 6))));
  EXPECT_EQ(outcome("[\"a\xC3\xA4\xFF\"]"), not_json(5, "a string is not UTF-8"));
  for (const char* const bytes : {"\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x28\xA1"})
    EXPECT_EQ(outcome(fmt::format("\"{}\"", bytes)), not_json(1, "a string is not UTF-8"));
}

TEST(Json, ErrorsNameWhatWasExpectedAndFound) {
  EXPECT_EQ(outcome(""), not_json(0, "it ends too early, where a value was expected"));
  EXPECT_EQ(outcome("{\"a\": nul}"), not_json(6, "expected a value, found \"nul\""));
  EXPECT_EQ(outcome("{\"a\":"), not_json(5, "it ends too early, where a value was expected"));
  EXPECT_EQ(outcome("{"), not_json(1, "it ends too early, where a key was expected"));
  EXPECT_EQ(outcome("{\"a\""), not_json(4, "it ends too early, where \":\" was expected"));
  EXPECT_EQ(outcome("{\"a\":1"), not_json(6, "it ends too early, where \",\" or \"}\" was expected"));
  EXPECT_EQ(outcome("[1"), not_json(2, "it ends too early, where \",\" or \"]\" was expected"));
  EXPECT_EQ(outcome("{a:1}"), not_json(1, "expected a key, found \"a\""));
  EXPECT_EQ(outcome("{'a':1}"), not_json(1, "expected a key, found \"'\""));
  EXPECT_EQ(outcome("{\"a\":1,}"), not_json(7, "expected a key, found \"}\""));
  EXPECT_EQ(outcome("[1,]"), not_json(3, "expected a value, found \"]\""));
  EXPECT_EQ(outcome("[1 2]"), not_json(3, "expected \",\" or \"]\", found \"2\""));
  EXPECT_EQ(outcome("[1}"), not_json(2, "expected \",\" or \"]\", found \"}\""));
  EXPECT_EQ(outcome("{\"a\" \"b\"}"), not_json(5, "expected \":\", found a string"));
  EXPECT_EQ(outcome("{} {}"), not_json(3, "expected the end, found \"{\""));
  EXPECT_EQ(outcome(std::string("{}\0x", 4)), not_json(2, "expected the end, found \"\\x00\""));
  EXPECT_EQ(outcome("[\xC3\xA4]"), not_json(1, "expected a value, found \"\xC3\xA4\""));
  EXPECT_EQ(outcome("\xEF\xBB{}"), not_json(0, "expected a value, found \"\\xEF\""));
  EXPECT_EQ(outcome("/**/1"), not_json(0, "expected a value, found \"/\""));
  EXPECT_EQ(outcome("\x0B"
                    "1"),
            not_json(0, "expected a value, found \"\\x0B\""));
}

TEST(Json, BoundsHaveTheirPlace) {
  EXPECT_EQ(outcome("{\"a\":" + std::string(64, '[')), "json.depth 68: nested more than 64 deep");
  EXPECT_EQ(outcome(std::string(64, '[') + std::string(64, ']')), std::string(64, '[') + std::string(64, ']'));
  wire::TreeBounds bounds{.depth = 2, .values = 3};
  const auto error = error_of([&] { wire::read_json("[0, {\"a\": 1}, 2]", bounds); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->rule(), "json.values");
  EXPECT_EQ(error->kind(), ErrorKind::limit);
  EXPECT_EQ(error->offset(), 15U);
  bounds = {.depth = 0, .values = 1};
  EXPECT_EQ(wire::read_json("7", bounds), Value(7));
  EXPECT_EQ(bounds.values, 0U);
}

// If any byte of a text is changed, both parsers accept it, with the same value, or both refuse it.
TEST(Json, AgreesWithAnotherParser) {
  simdjson::dom::parser parser, second;
  int taken = 0;
  for (std::size_t at = 0; at < kText.size(); ++at)
    for (const char c : std::string("{}[]\",:\\0 19eE.-+tfnu\n\x01\xC3\xA4") + '\0') {
      std::string text(kText);
      text[at] = c;
      SCOPED_TRACE(text);
      simdjson::dom::element root, again;
      const bool theirs = parser.parse(text).get(root) == simdjson::SUCCESS;
      const auto error = error_of([&] { read(text, {.last_key_counts = true}); });
      ASSERT_EQ(!error, theirs) << (error ? error->what() : "");
      if (error || rule_of([&] { read(text); }) == "json.duplicate") continue;
      ++taken;
      ASSERT_EQ(second.parse(to_json(read(text))).get(again), simdjson::SUCCESS);
      EXPECT_EQ(simdjson::minify(again), simdjson::minify(root));
    }
  EXPECT_GT(taken, 100);
}

// A destructor that allocates would end the process here.
TEST(Json, LackOfMemoryIsThrownWhereverItIsMet) {
  if (!kCountsMemory) GTEST_SKIP() << "a sanitizer counts memory itself";
  const std::string text = fmt::format("{{\"x\": {}, \"y\": [[1, [2, [3]]], \"{}\\n\", {{\"k\": {{\"l\": [0]}}}}]}}",
                                       kText, std::string(100, 'z'));
  int refused = 0;
  for (bool done = false; !done; ++refused) {
    ASSERT_LT(refused, 1000);
    fail_allocation(refused);
    try {
      const Value root = read(text);
      done = root.get<Map>()->size() == 2;
    } catch (const std::bad_alloc&) {
    }
    fail_allocation(-1);
  }
  EXPECT_GT(refused, 20);
}

// ---- values as JSON and back

TEST(ValueJson, EveryKindComesBack) {
  Map map;
  map.append("null", nullptr);
  map.append("true", true);
  map.append("int", std::int64_t{-5});
  map.append("uint", ~std::uint64_t{0});
  map.append("float", 1.0);
  map.append("small", 5e-324);
  map.append("minus zero", -0.0);
  map.append("infinity", -std::numeric_limits<double>::infinity());
  map.append("text", "quote \" slash \\ \x01 \xc3\xa9");
  map.append("not utf-8", std::string("a\xff\xfe"));
  map.append("bytes", to_bytes(std::string("\0\xff", 2)));
  map.append("opaque", Opaque{"cbor", to_bytes("\xc0\x01")});
  map.append("list", List{1, "two", List{}});
  Map dollar, bad_key;
  dollar.append("$bytes", "not bytes");
  bad_key.append("k\xff", 1);
  bad_key.append("other", Map());
  map.append("dollar", dollar);
  map.append("key", bad_key);
  const Value value = map;
  const std::string text = wire::write_value_json(value);
  const Value back = wire::parse_value_json(text, {});
  EXPECT_EQ(back, value) << text;
  EXPECT_EQ(wire::write_value_json(back), text);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Value nan_back = wire::parse_value_json(wire::write_value_json(nan), {.depth = 1});
  ASSERT_NE(nan_back.get<double>(), nullptr);
  EXPECT_TRUE(std::isnan(*nan_back.get<double>()));
  EXPECT_TRUE(std::signbit(*wire::parse_value_json("-0.0", {.depth = 1}).get<double>()));
}

TEST(ValueJson, Refuses) {
  const auto rule = [](const std::string& text) {
    return rule_of([&] { (void)wire::parse_value_json(text, {.depth = 8}); });
  };
  EXPECT_EQ(rule(""), "json.syntax");
  EXPECT_EQ(rule("{\"a\":1"), "json.syntax");
  EXPECT_EQ(rule("1 2"), "json.syntax");
  EXPECT_EQ(rule("\"\xff\""), "json.syntax");
  EXPECT_EQ(rule("1e999"), "json.syntax");
  EXPECT_EQ(rule("{\"a\":1,\"a\":2}"), "json.duplicate");
  EXPECT_EQ(rule("{\"$map\":[[\"a\",1],[\"a\",2]]}"), "json.duplicate");
  EXPECT_EQ(rule("[[[[[[[[[1]]]]]]]]]"), "json.depth");
  EXPECT_EQ(rule(std::string(1000000, '[')), "json.depth");
  EXPECT_EQ(rule("{\"$bytes\":\"0\"}"), "json.form");
  EXPECT_EQ(rule("{\"$bytes\":\"0g\"}"), "json.form");
  EXPECT_EQ(rule("{\"$bytes\":7}"), "json.form");
  EXPECT_EQ(rule("{\"$f64\":\"00\"}"), "json.form");
  EXPECT_EQ(rule("{\"$map\":[1]}"), "json.form");
  // The file chooses this word and people see it, so only known words are accepted.
  EXPECT_EQ(rule("{\"$opaque\":[\"cbor\",\"c000\"]}"), "");
  for (const char* word : {"", "CBOR", "cbor ", "x\\\":1,\\\"forged", "\\u001b[31m"})
    EXPECT_EQ(rule(fmt::format("{{\"$opaque\":[\"{}\",\"00\"]}}", word)), "json.form") << word;
  EXPECT_EQ(rule("{\"$opaque\":[\"cbor\"]}"), "json.form");
  EXPECT_EQ(rule("{\"$else\":1}"), "json.form");
}

}  // namespace
}  // namespace tare
