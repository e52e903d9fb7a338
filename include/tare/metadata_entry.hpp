// A metadata key with its type.
#pragma once

#include <string>

#include "tare/value.hpp"

namespace tare {

// One key of a file's metadata, as stored in the file.
struct MetadataEntry {
  std::string key;
  // The container's name for the type ("u32", "[string]"); the kind of value ("text") if it has no types.
  std::string type;
  Value value;
  friend bool operator==(const MetadataEntry&, const MetadataEntry&) = default;
};

}  // namespace tare
