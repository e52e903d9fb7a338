#include "inspect/inner_range.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tare::inspect {
namespace {

constexpr double kPart = 1.0 / 3;
// The second share is for a model with one outlier column: of 1,024, it has 0.098 % of the values.
constexpr double kShares[] = {0.999, kInnerShare};

// The exponent of the largest magnitude among the smallest `share` of the values; nothing if it is that of the last
// bin, which has no bound.
std::optional<int> exponent_of(double share, std::span<const std::uint64_t> counts) {
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  std::uint64_t below = 0;
  for (int exponent = Magnitudes::kLeast; exponent < Magnitudes::kMost; ++exponent) {
    below += counts[static_cast<std::size_t>(exponent - Magnitudes::kLeast)];
    if (static_cast<double>(below) >= share * static_cast<double>(all)) return exponent;
  }
  return std::nullopt;
}

// The part of [min, max] where magnitudes are below 2^(exponent + 1); nothing if it is too much of it. Halves cannot
// overflow.
std::optional<Range> within(int exponent, double min, double max) {
  const double bound = std::ldexp(1.0, exponent + 1);
  const Range range{std::max(min, -bound), std::min(max, bound)};
  if (range.high > range.low && range.high / 2 - range.low / 2 < (max / 2 - min / 2) * kPart) return range;
  return std::nullopt;
}

}  // namespace

std::size_t Magnitudes::bin_of(double v) {
  return static_cast<std::size_t>(std::clamp(std::ilogb(v), kLeast, kMost) - kLeast);
}

std::optional<Range> inner_range(double min, double max, std::span<const std::uint64_t> counts) {
  std::optional<Range> found;
  for (const double share : kShares)
    if (const auto exponent = exponent_of(share, counts))
      if (const auto range = within(*exponent, found ? found->low : min, found ? found->high : max)) found = range;
  return found;
}

std::optional<Range> widest_inner_range(double min, double max) {
  for (int exponent = Magnitudes::kMost - 1; exponent >= Magnitudes::kLeast; --exponent)
    if (const auto range = within(exponent, min, max)) return range;
  return std::nullopt;
}

}  // namespace tare::inspect
