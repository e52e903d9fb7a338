// A sum of squares that neither overflows nor underflows, whatever the doubles are.
#pragma once

#include <cmath>
#include <cstdint>

namespace tare::view {

// Three sums, as in Blue's algorithm: of values whose squares are representable, of larger values, and of smaller ones.
// Values of f32 and smaller types only need the first.
struct Squares {
  double usual = 0, large = 0, small = 0;

  void add(double v) {
    const double size = std::abs(v);
    if (size > kLarge)
      large += (v * kShrink) * (v * kShrink);
    else if (size < kSmall)
      small += (v * kGrow) * (v * kGrow);
    else
      usual += v * v;
  }
  void add(const Squares& other) {
    usual += other.usual;
    large += other.large;
    small += other.small;
  }
  double root_mean(std::uint64_t count) const {
    if (count == 0) return 0;
    const auto n = static_cast<double>(count);
    if (large > 0) return std::sqrt((large + usual * kShrink * kShrink) / n) * kGrow;
    if (usual > 0) return std::sqrt((usual + small * kShrink * kShrink) / n);
    return std::sqrt(small / n) * kShrink;
  }

 private:
  static constexpr double kLarge = 0x1p400, kSmall = 0x1p-400, kShrink = 0x1p-600, kGrow = 0x1p600;
};

}  // namespace tare::view
