// A tensor's payload by chunks of about 64 Ki weights, each made from the input alone, and what was learned on the way.
//
// Blocks are numbered over all rows. A row of k* counts as whole super-blocks in these numbers, though the blocks behind
// its end are not stored. int* tensors are one row.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/once.hpp"
#include "codecs/mcf/encode_kernels.hpp"
#include "codecs/weights.hpp"
#include "tare/codec.hpp"

namespace tare::codec::mcf {

inline constexpr std::string_view kNotFinite = "quant.nonfinite";

// The stored bytes of some chunks that follow each other. Used again, it needs no new memory.
struct ChunkBytes {
  std::span<std::byte> scales, sub_scales, codes;

 private:
  friend class Chunks;
  struct Scratch;
  struct Free {
    void operator()(Scratch* scratch) const;
  };
  std::unique_ptr<Scratch, Free> scratch_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t first_ = 0;  // chunk
};

class Chunks {
 public:
  // The options must fit the geometry.
  Chunks(const Tensor& tensor, const Geometry& geometry, const EncodeOptions& options);

  const Tensor& tensor() const { return tensor_; }
  const Geometry& geometry() const { return geometry_; }
  std::size_t count() const { return slots_.size(); }
  // Bytes of the input that a chunk is made from.
  std::uint64_t input_bytes() const;
  WeightStream values(std::size_t chunk) const;

  // Where the stored bytes of a chunk begin, in each region of q* and k*. `count()`: the regions' sizes.
  struct Place {
    std::uint64_t scales = 0, sub_scales = 0, codes = 0;
  };
  Place place(std::size_t chunk) const;

  // Room for the bytes of chunks [first, end).
  void prepare(std::size_t first, std::size_t end, ChunkBytes& bytes) const;
  // Makes the bytes of one of them. `values` must stand at its first element, and stands behind its last one afterwards.
  // May be called any number of times for each chunk, from many threads.
  void make(std::size_t chunk, WeightStream& values, ChunkBytes& bytes) const;
  // S and Z of int*. Looks at all weights the first time: once, or with a search (unless `fast`) twice.
  ScaleZero parameters() const;
  // min_clip and max_clip where the options do not say. Free when every chunk has been made.
  Map learned() const;

 private:
  struct Slot {
    bool made = false;
    float absmax = 0;
    Loss loss;
  };
  std::uint64_t first_block(std::size_t chunk) const;
  std::uint64_t element_of(std::uint64_t block) const;
  Place place_of(std::uint64_t block) const;
  void make_raw(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes& out, Slot& slot) const;
  void make_run(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes& out, Slot& slot) const;
  // `values` are what is coded, `source` what they were before the clip.
  struct Run {
    const float *values, *source;
  };
  Run read_run(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes::Scratch& scratch) const;
  const float* clipped(const float* values, std::size_t count, float* copy) const;
  [[noreturn]] void refuse(const Encoded& why, std::uint64_t first, const float* values) const;
  void settle(std::size_t chunk, const Slot& slot) const;
  void fill_report() const;
  // Of int*: the range that the codes are made for, searched unless `fast`. Of others: that of the weights.
  Range range_of_all() const;

  Tensor tensor_;
  Geometry geometry_;
  EncodeOptions options_;
  std::uint64_t row_blocks_;  // q*, k*: of a row in the numbers
  std::uint64_t blocks_;
  std::vector<float> importance_;  // of a row, padded as the values are

  mutable Once ranged_;
  mutable Range range_;
  mutable std::mutex mutex_;  // over what follows
  mutable std::vector<Slot> slots_;
  mutable std::size_t made_ = 0;
};

}  // namespace tare::codec::mcf
