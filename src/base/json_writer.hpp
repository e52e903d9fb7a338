// Values as JSON text: the one writer behind `to_json` (value.hpp), wire/value_json.hpp and the files that we make. What
// is too large for a tree (vocabularies, headers, the command's listings) puts its own brackets; strings and values in it
// are written by the same functions.
#pragma once

#include <string>

#include "tare/value.hpp"

namespace tare {

struct JsonStyle {
  JsonKeys keys = JsonKeys::in_order;
  // What JSON cannot say is spelled so that wire/value_json.hpp makes the same value of it; otherwise for people and
  // programs, as `to_json` has it.
  bool exact = false;
  // Blanks for each level, every value on a line of its own; 0: all on one line, without blanks.
  unsigned indent = 0;
};

std::string write_json(const Value& value, const JsonStyle& style);
std::string write_json(const Map& map, const JsonStyle& style);

}  // namespace tare
