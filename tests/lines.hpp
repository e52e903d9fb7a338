// Changes, differences and remedies as text, for comparisons in tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tare/change.hpp"
#include "tare/error.hpp"
#include "tare/inspect.hpp"

namespace tare::testing {

using Lines = std::vector<std::string>;

inline Lines lines_of(const std::vector<Change>& changes) {
  Lines lines;
  for (const Change& change : changes) lines.push_back(tare::to_text(change));
  return lines;
}

inline Lines lines_of(const std::vector<MetadataDifference>& differences) {
  Lines lines;
  for (const MetadataDifference& difference : differences) lines.push_back(tare::to_text(difference));
  return lines;
}

// "drop config, weights_only"
inline std::string text_of(const std::vector<Advice>& remedies) {
  std::string text;
  for (const Advice& advice : remedies) {
    if (!text.empty()) text += ", ";
    text += name_of(advice.remedy);
    if (!advice.argument.empty()) text += " " + advice.argument;
  }
  return text;
}

// Whether one of the changes contains this text.
inline bool mentions(const std::vector<Change>& changes, std::string_view text) {
  for (const std::string& line : lines_of(changes))
    if (line.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace tare::testing
