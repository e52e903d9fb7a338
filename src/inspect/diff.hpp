// The parts of `diff`: the values of tensors, and everything else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tare/inspect.hpp"

namespace tare::inspect {

// Two tensors with the same name. Differences of shape, layout and type are already in `found`.
struct Pair {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  TensorDifference found;
  bool other_bits = false;  // the values are equal, but not their bits: 0 and -0, two NaN, two codes for one number
};

// Fills the fields of `found` that describe values. Two NaN are equal, -0 equals 0; if exactly one value is NaN or
// infinite, the difference is infinite. 64-bit integers of the same type are compared exactly, everything else as
// doubles. Tensors without a common shape or that cannot be decoded are compared by their bytes at most. `progress`
// counts the decoded bytes of `a`.
void compare_values(std::span<Pair> pairs, unsigned threads, Progress* progress);

// Likewise, but compares bytes: fills `values_differ`, `component` and `first_difference`.
void compare_bytes(std::span<Pair> pairs, unsigned threads, Progress* progress);

// The first byte in which two blobs of the same size differ.
std::optional<std::uint64_t> first_different_byte(const Blob& a, const Blob& b);

// Differences in metadata, config, vocabulary, attachments and the attributes of tensors that both models have.
std::vector<MetadataDifference> metadata_differences(const Model& a, const Model& b, std::span<const Pair> pairs);

}  // namespace tare::inspect
