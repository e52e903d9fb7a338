// Mean and spread of numbers, a run at a time, as the statistics of a whole tensor and of a sample of it need them.
#pragma once

#include <cstddef>
#include <span>

namespace tare::inspect {

// Numbers times a power of two: the largest magnitude becomes about 1, and squares neither overflow nor vanish.
struct Scale {
  int exponent = 0;   // a number is what was scaled times 2^exponent
  double factor = 1;  // what to multiply with; always finite

  // For numbers from `min` to `max`.
  static Scale of(double min, double max);
};

// Count, mean and sum of squared distances from the mean, merged by Chan's formula.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void merge(const Moments& other);
};

// Of finite numbers that were scaled.
Moments moments_of(std::span<const double> values);

// The bin of a value, `place` bins above the least one; rounding may put it a hair beyond either end.
inline std::size_t bin_of(double place, std::size_t bins) {
  if (!(place > 0)) return 0;
  return place < static_cast<double>(bins) ? static_cast<std::size_t>(place) : bins - 1;
}

}  // namespace tare::inspect
