// Writes values as JSON text: for `to_json` (value.hpp), wire/value_json.hpp and the files that Tare generates. Data
// too large for a tree (vocabularies, headers, the command's listings) writes its own brackets, and uses these
// functions for strings and values.
#pragma once

#include <string>

#include "tare/value.hpp"

namespace tare {

struct JsonStyle {
  JsonKeys keys = JsonKeys::in_order;
  // Escapes what JSON cannot represent, so that wire/value_json.hpp reads the same value back. Off: the form of
  // `to_json`, for people and programs.
  bool exact = false;
  // Spaces per level, with every value on its own line; 0: everything on one line without spaces.
  unsigned indent = 0;
};

std::string write_json(const Value& value, const JsonStyle& style);
std::string write_json(const Map& map, const JsonStyle& style);

}  // namespace tare
