#include "base/sizes.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

namespace tare {

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!unit.empty() && unit != "B") {
    const std::size_t power = std::string_view("KMGT").find(unit.front()) + 1;
    const bool binary = unit.size() == 3 && unit.substr(1) == "IB";
    if (power == 0 || (!binary && unit.size() != 1 && !(unit.size() == 2 && unit[1] == 'B'))) return std::nullopt;
    number *= std::pow(binary ? 1024 : 1000, power);
  }
  // Up to 2^53 a double represents every integer.
  if (!(number >= 0 && number <= 0x1p53)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

}  // namespace tare
