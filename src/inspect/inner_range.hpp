// The part of a tensor's range that a histogram should show. A few far values would leave all others in one bar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tare::inspect {

// Finite values other than zero, counted by the exponent of their magnitude. Values beyond the bins are in the first and the last one.
struct Magnitudes {
  static constexpr int kLeast = -40, kMost = 40;
  static constexpr std::size_t kCount = kMost - kLeast + 1;

  static std::size_t bin_of(double v);
};

struct Range {
  double low = 0, high = 0;
};

// The smallest power of two that at least 99.9 % of the values other than zero stay below bounds the inner range; there
// is one if it covers less than a third of [min, max]. A power of two that 99 % stay below replaces it if that divides
// what is shown by more than three again, as for a whole column of outliers. `counts` has Magnitudes::kCount entries.
std::optional<Range> inner_range(double min, double max, std::span<const std::uint64_t> counts);

// The widest range that inner_range() could give for these extremes; nothing if it gives none. So values need to be
// counted by magnitude only if at least kInnerShare of those other than zero are in it.
std::optional<Range> widest_inner_range(double min, double max);
inline constexpr double kInnerShare = 0.99;

}  // namespace tare::inspect
