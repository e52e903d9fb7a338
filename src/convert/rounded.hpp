// Numbers that a user typed.
#pragma once

#include <string>
#include <string_view>

#include "tare/value.hpp"

namespace tare {

// JSON has whole numbers of any size, and those beyond 64 bits are read as the nearest float, which the user did not
// ask for. Returns what is wrong with `text`, which was read as `value`; empty if nothing is.
inline std::string rounded_whole(const Value& value, std::string_view text) {
  if (value.get<double>() == nullptr || text.find_first_of(".eE") != text.npos) return {};
  const std::string number(text);
  return "a whole number of more than 64 bits; write " + number + ".0 to have it rounded to a float, or '\"" + number +
         "\"' for a string";
}

}  // namespace tare
