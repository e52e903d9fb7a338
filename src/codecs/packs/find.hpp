// Finds packed weights: checkpoints that are already quantized, as codes with their scales in other tensors (GPTQ, AWQ,
// bitsandbytes, FP8 with block scales, ...). To containers and casts these are plain tensors of numbers.
//
// This is the only place that looks for them. `open` joins what is found (join.hpp); conversions refuse to take codes
// for weights; `info`, `ls` and `show` describe it (packing.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/packs/scheme.hpp"
#include "codecs/packs/stated.hpp"
#include "tare/codec.hpp"
#include "tare/model.hpp"

namespace tare::codec::packs {

// Codes, and the arrays that belong to them.
struct FoundSet {
  std::size_t codes = 0;           // the index of the tensor with the codes
  const Scheme* scheme = nullptr;  // null: the names fit no scheme, because an array is missing
  // The weights: one tensor, whose components are the arrays. The set is joined only if all required members exist and
  // have the types and shapes that the scheme expects.
  std::optional<Tensor> joined = {};
  std::optional<Problem> refused = {};  // why the arrays were not joined
};

// An array whose name implies codes that do not exist, have another type, or lack their companion array.
struct Orphan {
  std::size_t index = 0;
  Problem problem = {};
};

struct Found {
  Stated stated = {};
  std::vector<FoundSet> sets = {};
  std::vector<Orphan> orphans = {};
  // Arrays that the config calls packed, by a method or under names that no scheme has, if nothing else explains what
  // it states; and why they are not decoded.
  std::vector<std::size_t> unnamed = {};
  std::string why_unnamed = {};
  // For every tensor of the model, its part in a scheme: "codes", "scales", ...; empty for a plain one.
  std::vector<std::string_view> parts = {};
  // What was assumed for the joined tensors, one sentence each.
  std::vector<std::string> guesses = {};

  // Whether some weights are packed.
  bool any() const;
  // Whether the tensor with this index holds codes.
  bool is_codes(std::size_t index) const { return index < parts.size() && parts[index] == "codes"; }
  // Why the codes with this index are not decoded, as part of a sentence; empty if unknown. Without an index: why the
  // method that the config states is not.
  std::string why_not_decoded(std::optional<std::size_t> codes) const;
};

// Uses names, types and shapes. Reads no weights.
Found find_sets(const Model& model, Stated stated);

// Whether `find_sets` may find something to join or to report: one look at every tensor.
bool may_be_packed(const Model& model);
// Whether `find_sets` may find codes: false if all tensors are plain floats with ordinary names.
bool may_have_codes(const Model& model);

}  // namespace tare::codec::packs
