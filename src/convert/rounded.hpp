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

// In JSON, 2 and 2.0 are the same number: a list of whole numbers and floats is one of floats, for a container whose lists have
// one type. Any other value, and a list with a whole number that a float cannot hold, is returned unchanged.
inline Value with_one_kind_of_number(const Value& value) {
  const List* const list = value.get<List>();
  bool floats = false;
  List made;
  for (const Value& item : list == nullptr ? List() : *list) {
    const auto* const whole = item.get<std::int64_t>();
    if (item.get<double>() == nullptr &&
        (whole == nullptr || static_cast<std::int64_t>(static_cast<double>(*whole)) != *whole))
      return value;
    floats = floats || whole == nullptr;
    made.push_back(whole == nullptr ? item : Value(static_cast<double>(*whole)));
  }
  return floats ? Value(std::move(made)) : value;
}

}  // namespace tare
