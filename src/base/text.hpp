// Small text helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tare {

// text == literal, with a length known to the compiler: a couple of instructions instead of a call.
template <std::size_t N>
bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && std::memcmp(text.data(), literal, N - 1) == 0;
}

bool is_valid_utf8(std::string_view text);
// U+FEFF in UTF-8, which some editors put at the beginning of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
std::string to_hex(std::span<const std::byte> bytes);
// The shortest text that reads back to the same double, always with a point, an exponent or a word: "1.0", "1e-05",
// "nan".
std::string float_text(double value);
// A float as the double that was probably meant: the decimal number of six digits that it is the nearest float to, if
// there is one (1e-05, where widening would give 9.999999747378752e-06), else its exact value. For numbers that people
// wrote and a file keeps in 32 bits. A NaN keeps its bits; `carry_to_f32` (half.hpp) goes back.
double decimal_double(float value);
// Numbers for people: these two are what the command, the page (which has its own in JavaScript, src/view/page/format.js) and
// Python show. tests/base/numbers.json holds what all of them must give. Rounded once, from the number itself; a tie goes to
// the even digit.
//
// "0.09196", "1.235e+04", "nan": `digits` significant ones.
std::string number_text(double value, int digits = 4);
// "1.5 GiB", "512 B".
std::string size_text(std::uint64_t bytes);
// "1,234,567"
std::string count_text(std::uint64_t number);

}  // namespace tare
