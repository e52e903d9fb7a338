// Encoding whole blocks with whatever SIMD the processor has. The scales and codes are those of reference.hpp (`fast`)
// and encode_search.hpp, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

// Blocks of 32 values, one behind the other. k*: whole super-blocks. What lies behind the end of a row is 0.
struct Blocks {
  const Method* method = nullptr;
  const float* values = nullptr;
  const float* source = nullptr;  // what losses are measured against: the values before a clip, or the values
  std::size_t count = 0;
  // Null, or the importance of every column of a row padded as the values are: `period` blocks, the first of our blocks
  // being number `phase` of them.
  const float* importance = nullptr;
  std::size_t period = 0, phase = 0;
  bool fast = false;
};

struct Coded {
  std::byte* scales = nullptr;      // f16 of each block (q*) or super-block (k*)
  std::byte* sub_scales = nullptr;  // k*
  std::byte* codes = nullptr;       // method->block_bytes() each
};

// What was lost, added up over calls in f64. The sums of a block are f32, too, where that is accurate.
struct Loss {
  double squared_sum = 0, squared_error = 0;
  float max_error = 0;
  double worst_error = 0;         // the largest squared error of a block
  std::uint64_t worst_block = 0;  // its number
  // f16 scales of blocks (q*) or super-blocks (k*), and those that are neither 0 nor a normal number.
  std::uint64_t scales = 0, subnormal = 0;
};

struct Encoded {
  enum class Status : std::uint8_t { done, not_finite, overflow } status = Status::done;
  std::size_t block = 0;  // not finite, or (the first of the super-block) too large for an f16
  float absmax = 0;
};

// `loss` may be null; blocks are numbered from `first` in it. Stops at the first block that cannot be coded.
Encoded encode_blocks(const Blocks& blocks, const Coded& out, Loss* loss, std::uint64_t first);

// int*: `count` values by the tensor's S and Z, to one code a byte (int8) or two (int4; an odd last one alone). Values
// must be finite. `source` is as in Blocks.
struct Raw {
  const Method* method = nullptr;
  Domain domain = Domain::weights;
  ScaleZero parameters;
  const float* values = nullptr;
  const float* source = nullptr;
  std::size_t count = 0;
};
void encode_raw(const Raw& in, std::byte* codes, Loss* loss, std::uint64_t first_block);

// The least and largest of the values; NaN and infinities are found by `finite`.
struct Range {
  float min = 0, max = 0;
  bool finite = true;
};
Range range_of(const float* values, std::size_t count);

}  // namespace tare::codec::mcf
