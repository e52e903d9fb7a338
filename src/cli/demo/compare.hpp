#pragma once

#include "tare/model.hpp"

namespace tare::cli {

// Returns whether every field that was written was read back. A container with fixed fields may also return fields that
// were not set.
inline bool came_back(const Config& written, const Config& read) {
  const Map found = read.to_map();
  for (const auto& [key, value] : written.to_map())
    if (const Value* const there = found.find(key); there == nullptr || !(*there == value)) return false;
  return true;
}

}  // namespace tare::cli
