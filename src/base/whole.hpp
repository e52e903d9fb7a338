// Numbers of files as integers: a cast of a double that no integer equals is undefined.
#pragma once

#include <cmath>
#include <cstdint>

namespace tare {

// The number without its fraction; beyond ±2^62, that limit, and 0 for NaN. Sizes and counts are compared with tensors
// later, which no file has in such numbers.
inline std::int64_t whole_part(double number) {
  constexpr double kMost = 0x1p62;
  if (std::isnan(number)) return 0;
  return static_cast<std::int64_t>(std::fmin(std::fmax(number, -kMost), kMost));
}

}  // namespace tare
