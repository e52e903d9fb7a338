// Random metadata for property tests.
#pragma once

#include <gtest/gtest.h>
// After GoogleTest, because it uses its macros.
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "tare/value.hpp"

namespace tare::testing {

// Valid UTF-8 text, with characters that tend to need escaping.
inline rc::Gen<std::string> gen_text() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "a", "b", "layer", ".", "0", "/", "\"", "\\", " ", "\n", "\xC3\xA4", "\xE5\xB1\xA4",
                          "\xF0\x9F\x98\x80", "'", "\x01", std::string(1, '\0'))),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const auto& piece : pieces) text += piece;
                        return text;
                      });
}

inline rc::Gen<Value> gen_scalar() {
  return rc::gen::oneOf(
      rc::gen::just(Value()), rc::gen::map(rc::gen::arbitrary<bool>(), [](bool v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<std::uint64_t>(), [](std::uint64_t v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<double>(), [](double v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<float>(), [](float v) { return Value(static_cast<double>(v)); }),
      rc::gen::map(gen_text(), [](const std::string& v) { return Value(v); }),
      rc::gen::map(rc::gen::arbitrary<std::vector<std::uint8_t>>(), [](const std::vector<std::uint8_t>& v) {
        const auto view = std::as_bytes(std::span(v));
        return Value(Bytes(view.begin(), view.end()));
      }));
}

inline Value any_value(int depth);

inline Map any_map(int depth) {
  Map map;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) map.set(*gen_text(), any_value(depth - 1));
  return map;
}

inline Value any_value(int depth) {
  const int kind = depth == 0 ? 0 : *rc::gen::inRange(0, 4);
  if (kind < 2) return *gen_scalar();
  if (kind == 2) return any_map(depth);
  List list;
  const int count = *rc::gen::inRange(0, 5);
  for (int i = 0; i < count; ++i) list.push_back(any_value(depth - 1));
  return list;
}

inline rc::Gen<Value> gen_value(int depth) {
  return rc::gen::exec([depth] { return any_value(depth); });
}

}  // namespace tare::testing

namespace rc {

template <>
struct Arbitrary<tare::Value> {
  static Gen<tare::Value> arbitrary() { return tare::testing::gen_value(3); }
};

}  // namespace rc
