// Encodes whole blocks with the best SIMD of the processor. Scales and codes are those of reference.hpp (`fast`) and
// encode_search.hpp, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

// Blocks of 32 values, one after the other; for k*, whole super-blocks. Values after the end of a row are 0.
struct Blocks {
  const Method* method = nullptr;
  const float* values = nullptr;
  const float* source = nullptr;  // the values before clipping, against which losses are measured
  std::size_t count = 0;
  // Null, or the importance of every column of a row that is padded like the values: `period` blocks. The first block
  // to encode is number `phase` of them.
  const float* importance = nullptr;
  std::size_t period = 0, phase = 0;
  bool fast = false;
};

struct Coded {
  std::byte* scales = nullptr;      // f16 of each block (q*) or super-block (k*)
  std::byte* sub_scales = nullptr;  // k* only
  std::byte* codes = nullptr;       // method->block_bytes() each
};

// Losses, accumulated over calls in f64. Sums inside a block are f32 if that is accurate enough.
struct Loss {
  double squared_sum = 0, squared_error = 0;
  float max_error = 0;
  double worst_error = 0;         // the largest squared error of a block
  std::uint64_t worst_block = 0;  // its number
  // Number of f16 scales of blocks (q*) or super-blocks (k*), and how many of them are subnormal.
  std::uint64_t scales = 0, subnormal = 0;
};

struct Encoded {
  enum class Status : std::uint8_t { done, not_finite, overflow } status = Status::done;
  // The block with a value that is not finite, or with a scale beyond f16 (k*: the first of its super-block).
  std::size_t block = 0;
  float absmax = 0;
};

// `loss` may be null; it numbers blocks from `first` on. Stops at the first block that cannot be encoded.
Encoded encode_blocks(const Blocks& blocks, const Coded& out, Loss* loss, std::uint64_t first);

// int*: `count` values, encoded with the tensor's S and Z to one code per byte (int8) or two (int4; an odd last one has
// its own byte). Values must be finite. `source` is as in Blocks.
struct Raw {
  const Method* method = nullptr;
  Domain domain = Domain::weights;
  ScaleZero parameters;
  const float* values = nullptr;
  const float* source = nullptr;
  std::size_t count = 0;
};
void encode_raw(const Raw& in, std::byte* codes, Loss* loss, std::uint64_t first_block);

// The smallest and the largest value. `finite` is false if a value is NaN or infinite.
struct Range {
  float min = 0, max = 0;
  bool finite = true;
};
Range range_of(const float* values, std::size_t count);

}  // namespace tare::codec::mcf
