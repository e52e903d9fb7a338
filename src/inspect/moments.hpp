// Mean and standard deviation, one run of numbers at a time, for the statistics of a tensor or of a sample.
#pragma once

#include <cstddef>
#include <span>

namespace tare::inspect {

// A power of two that scales the largest magnitude to about 1, so that squares neither overflow nor underflow.
struct Scale {
  int exponent = 0;   // number = scaled number * 2^exponent
  double factor = 1;  // scaled number = number * factor; always finite

  // For numbers from `min` to `max`.
  static Scale of(double min, double max);
};

// Count, mean and sum of squared distances from the mean, merged by Chan's formula.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void merge(const Moments& other);
};

// The moments of finite, scaled numbers.
Moments moments_of(std::span<const double> values);

// The bin of a value that is `place` bins above the minimum; rounding may put it slightly beyond either end.
inline std::size_t bin_of(double place, std::size_t bins) {
  if (!(place > 0)) return 0;
  return place < static_cast<double>(bins) ? static_cast<std::size_t>(place) : bins - 1;
}

}  // namespace tare::inspect
