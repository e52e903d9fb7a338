// Small text helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "tare/value.hpp"

namespace tare {

// Bytes as text, and text as bytes.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// text == literal, with a length known at compile time: a few instructions instead of a call.
template <std::size_t N>
bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && std::memcmp(text.data(), literal, N - 1) == 0;
}

bool is_valid_utf8(std::string_view text);
// U+FEFF in UTF-8, which some editors put at the beginning of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
std::string to_hex(std::span<const std::byte> bytes);
// The shortest text that reads back as the same double, always with a point, an exponent or a word: "1.0", "1e-05",
// "nan".
std::string float_text(double value);
// The double that a float was probably written as: the decimal number of six digits whose nearest float it is, if there
// is one (1e-05, not 9.999999747378752e-06), else its exact value. For numbers that people wrote and a file stores in
// 32 bits. A NaN keeps its bits; `carry_to_f32` (half.hpp) converts back.
double decimal_double(float value);
// Numbers for people, as the command, the page (in JavaScript, src/view/page/format.js) and Python show them.
// tests/base/numbers.json has the results that all of them must give. Rounded once, from the exact number; ties to
// even.
//
// "0.09196", "1.235e+04", "nan": with `digits` significant digits.
std::string number_text(double value, int digits = 4);
// "1.5 GiB", "512 B".
std::string size_text(std::uint64_t bytes);
// "1,234,567"
std::string count_text(std::uint64_t number);

}  // namespace tare
