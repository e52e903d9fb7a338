#pragma once

#include "tare/model.hpp"

namespace tare::cli {

// Whether every field that was written came back. A container of fixed fields also gives those nobody set.
inline bool came_back(const Config& written, const Config& read) {
  const Map found = read.to_map();
  for (const auto& [key, value] : written.to_map())
    if (const Value* const there = found.find(key); there == nullptr || !(*there == value)) return false;
  return true;
}

}  // namespace tare::cli
