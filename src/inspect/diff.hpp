// The parts of `diff`: values of tensors, and everything beside them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tare/inspect.hpp"

namespace tare::inspect {

// Two tensors of the same name. Shapes, layouts and types are compared already and noted in `found`.
struct Pair {
  const Tensor* a = nullptr;
  const Tensor* b = nullptr;
  TensorDifference found;
};

// Fills in what `found` says about values. Two NaN are equal, -0 equals 0; where one value only is NaN or
// infinite the difference counts as infinite. 64-bit integers of the same type are compared exactly,
// everything else as doubles. Tensors that have no common shape or cannot be decoded are compared by their
// bytes at most. `progress` counts the decoded bytes of `a`.
void compare_values(std::span<Pair> pairs, unsigned threads, Progress* progress);

// The first byte in which two blobs of the same size differ.
std::optional<std::uint64_t> first_different_byte(const Blob& a, const Blob& b);

// In metadata, config, vocabulary, attachments and the attributes of tensors that are in both.
std::vector<MetadataDifference> metadata_differences(const Model& a, const Model& b, std::span<const Pair> pairs);

}  // namespace tare::inspect
