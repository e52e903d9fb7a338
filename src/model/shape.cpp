#include "tare/shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.hpp"

namespace tare {

std::optional<std::uint64_t> Shape::elements() const {
  // A zero anywhere means no elements, even next to dimensions whose product would overflow.
  if (std::find(begin(), end(), 0) != end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t dimension : *this) {
    const auto product = checked_mul(count, dimension);
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

std::string Shape::text() const {
  return empty() ? std::string("-") : fmt::format("{}", fmt::join(begin(), end(), "x"));
}

}  // namespace tare
