// JSON (RFC 8259) into a tree of values, within bounds. Every JSON text that becomes a tree is read here. Those that are
// too large for one (vocabularies, the headers of safetensors) are walked with simdjson, and never become a tree.
//
// A byte order mark at the beginning is ignored. Whole numbers of 64 bits are kept as they are ("-0" is 0), all others as
// the nearest double, so that "-0.0" keeps its sign and what is too small becomes 0; what is larger than any double is
// refused. So are bytes that are not UTF-8 and halves of surrogate pairs.
#pragma once

#include <cstdint>
#include <string_view>

#include "tare/value.hpp"

namespace tare::wire {

// How large a tree may get. What all texts of a call may become together is bounded by the budget of this thread
// (base/budget.hpp), to which every value is charged.
struct TreeBounds {
  unsigned depth = 64;
  std::uint64_t values = UINT64_MAX;  // counts down as they are made
};

struct JsonOptions {
  // Python writes and reads NaN, Infinity and -Infinity, for which JSON has no word: they become null. Otherwise they are
  // not JSON.
  bool python_words = false;
  // Of several values under one key the last counts, as in Python, in the place of the first. Otherwise they are
  // `json.duplicate`.
  bool last_key_counts = false;
  // What is put in an object's place once it is complete; null: itself.
  Value (*finish)(Map object) = nullptr;
};

// Throws `json.syntax`, `json.depth`, `json.values`, `json.duplicate`, each with its place in the text; and what
// `finish` throws.
Value read_json(std::string_view text, TreeBounds& bounds, const JsonOptions& options = {});

}  // namespace tare::wire
