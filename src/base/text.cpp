#include "base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/half.hpp"
#include "base/simdjson.hpp"

namespace tare {

bool is_valid_utf8(std::string_view text) {
  const SimdjsonCall call;
  return simdjson::validate_utf8(text.data(), text.size());
}

std::string to_hex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    hex += kDigits[std::to_integer<unsigned>(b) >> 4];
    hex += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return hex;
}

std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

double decimal_double(float value) {
  if (!std::isfinite(value)) return carry_to_f64(value);
  // Every float preserves six decimal digits.
  const std::string text = fmt::format("{:.6g}", value);
  double wide = value;
  std::from_chars(text.data(), text.data() + text.size(), wide);
  return static_cast<float>(wide) == value ? wide : static_cast<double>(value);
}

std::string number_text(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string size_text(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would print as 1024.0.
  while (amount >= 1023.95 && unit + 1 < std::size(kUnits)) amount /= 1024, ++unit;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string count_text(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, 1, ',');
  return digits;
}

}  // namespace tare
