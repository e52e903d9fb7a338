// Which numbers survive a cast of floats to integers. A cast has no scale, so nearly all weights would become 0.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "tare/dtype.hpp"

namespace tare {

// Returns whether the integer type `to` has the number, its range aside: to bool, only 0 and 1 survive. NaN and
// infinity pass for the others, whose casts refuse them in other words.
inline bool is_whole_for(DType to, double value) {
  if (to == DType::boolean) return value == 0 || value == 1;
  return std::isnan(value) || value == std::trunc(value);
}

inline std::string fraction_sentence(std::uint64_t element, double value, DType to) {
  return fmt::format("element {} is {}, and {} holds {} only", element, value, name_of(to),
                     to == DType::boolean ? "0 and 1" : "whole numbers");
}

}  // namespace tare
