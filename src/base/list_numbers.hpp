// Lists of numbers, for containers whose lists have one type.
#pragma once

#include <cstdint>
#include <utility>

#include "tare/value.hpp"

namespace tare {

// In JSON and for a reader, 2 and 2.0 are the same number: a list of whole numbers and floats becomes one of floats. Any
// other value, and a list with a whole number that a float cannot hold, is returned unchanged.
inline Value with_one_kind_of_number(const Value& value) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const List* const list = value.get<List>();
  if (list == nullptr) return value;
  bool floats = false;
  List made;
  for (const Value& item : *list) {
    const auto* const whole = item.get<std::int64_t>();
    if (whole == nullptr ? item.get<double>() == nullptr : *whole > kExact || *whole < -kExact) return value;
    floats = floats || whole == nullptr;
    made.push_back(whole == nullptr ? item : Value(static_cast<double>(*whole)));
  }
  return floats ? Value(std::move(made)) : value;
}

}  // namespace tare
