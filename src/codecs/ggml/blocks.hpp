// What the bytes of ggml's blocks mean: the fields of each type and the formula of its weights, as the viewer shows
// them, and a reference decoder, one weight at a time, with which kernels.hpp must agree.
//
// The values are those of ggml's own C code, bit for bit: products and sums in f32, in the same order, without fused
// multiply-adds.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codecs/first_block.hpp"
#include "codecs/ggml/type_table.hpp"

namespace tare::codec::ggml {

using Terms = std::vector<BlockTerm>;

struct BlockRules {
  Type type;
  void (*decode)(const std::byte* block, float* weights);
  std::string_view formula;
  std::initializer_list<BlockField> fields;  // cover every byte of a block
  Terms (*terms)(const std::byte* block);    // the values of the names in the formula
};

// Blocks with a scale (and a minimum) for all their weights, or few of them (blocks32.cpp).
std::span<const BlockRules> small_blocks();
// Blocks of 256 weights with a scale for each part (blocks256.cpp).
std::span<const BlockRules> super_blocks();
// Blocks of 256 weights with codewords for four or eight weights (blocks_grids.cpp).
std::span<const BlockRules> grid_blocks();

void reference_decode(Type type, const std::byte* blocks, std::size_t count, float* out);
// See Codec.
std::optional<FirstBlock> explain(const Tensor& tensor);

}  // namespace tare::codec::ggml
