// Two weights that should be the same: whether they differ by more than the rounding of their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "run/plan.hpp"

namespace tare::run {

struct WeightDifference {
  double relative = 0;  // root mean square of the difference, relative to the first weight; infinite for other shapes
  bool beyond = false;  // the types do not explain it, in the whole or in some block
  // The first row with a block beyond what the types explain.
  std::optional<std::uint64_t> row = std::nullopt;
};

// Reads both. `place`: where they are used, for errors.
WeightDifference weight_difference(const Weight& a, const Weight& b, const std::string& place, unsigned threads);

}  // namespace tare::run
