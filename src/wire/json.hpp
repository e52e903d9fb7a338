// Reads JSON (RFC 8259) into a tree of values, within bounds. Every JSON text that becomes a tree is read here. Texts
// too large for a tree (vocabularies, the headers of safetensors) are walked with simdjson instead.
//
// Ignores a byte order mark at the beginning. Keeps 64-bit integers exactly ("-0" is 0) and all other numbers as the
// nearest double: "-0.0" keeps its sign, a number that is too small becomes 0, and one larger than any double is
// refused. So are bytes that are not UTF-8 and unpaired surrogates.
#pragma once

#include <cstdint>
#include <string_view>

#include "tare/value.hpp"

namespace tare::wire {

// Limits on the size of a tree. The budget of this thread (base/budget.hpp), to which every value is charged, limits
// all texts of a call together.
struct TreeBounds {
  unsigned depth = 64;
  std::uint64_t values = UINT64_MAX;  // decreases with each value
};

struct JsonOptions {
  // Accept NaN, Infinity and -Infinity, which Python writes, as null. Off: they are not valid JSON.
  bool python_words = false;
  // If a key repeats, the last value replaces the first, as in Python. Off: `json.duplicate`.
  bool last_key_counts = false;
  // Replaces a complete object by the result; null: keeps the object.
  Value (*finish)(Map object) = nullptr;
};

// Throws `json.syntax`, `json.depth`, `json.values` and `json.duplicate`, each with the offset in the text, and what
// `finish` throws.
Value read_json(std::string_view text, TreeBounds& bounds, const JsonOptions& options = {});

}  // namespace tare::wire
