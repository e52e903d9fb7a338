// Values as JSON text.
#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tare {
namespace {

TEST(JsonWriter, Styles) {
  Map map;
  map.append("b", List{1, Map(), List{}, List{"x", nullptr}});
  map.append("a", 1.0);
  Map outer;
  outer.append("z\n", map);
  EXPECT_EQ(write_json(outer, {}), R"({"z\n":{"b":[1,{},[],["x",null]],"a":1.0}})");
  EXPECT_EQ(write_json(outer, {.keys = JsonKeys::sorted}), R"({"z\n":{"a":1.0,"b":[1,{},[],["x",null]]}})");
  EXPECT_EQ(write_json(outer, {.indent = 2}), R"({
  "z\n": {
    "b": [
      1,
      {},
      [],
      [
        "x",
        null
      ]
    ],
    "a": 1.0
  }
})");
  EXPECT_EQ(write_json(Value(Map()), {.indent = 2}), "{}");
}

TEST(JsonWriter, Strings) {
  const auto quoted = [](std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
  };
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("plain"), R"("plain")");
  EXPECT_EQ(quoted("\"\\/\b\f\n\r\t\x1f\x7f"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\x7f\"");
  EXPECT_EQ(quoted(std::string("a\0b", 3)), R"("a\u0000b")");
  EXPECT_EQ(quoted("\xC3\xA4\n\xF0\x9F\x98\x80"), "\"\xC3\xA4\\n\xF0\x9F\x98\x80\"");
  // Invalid UTF-8 between valid characters.
  EXPECT_EQ(quoted("\xC3\xA4\xFFx\n\xC3"), "\"\xC3\xA4\\\\xFFx\\n\\\\xC3\"");
}

TEST(JsonWriter, WhatJsonCannotSay) {
  Map odd;
  odd.append("k\xff", std::string("a\xfe"));
  const Value value = List{odd, Bytes(2), Opaque{"cbor", Bytes(1)}, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(write_json(value, {}), R"([{"k\\xFF":"a\\xFE"},{"$bytes":"0000"},{"$cbor":"00"},"Infinity"])");
  EXPECT_EQ(
      write_json(value, {.exact = true}),
      R"([{"$map":[[{"$text":"6bff"},{"$text":"61fe"}]]},{"$bytes":"0000"},{"$opaque":["cbor","00"]},{"$f64":"7ff0000000000000"}])");
}

}  // namespace
}  // namespace tare
