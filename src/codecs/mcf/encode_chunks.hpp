// Makes a tensor's payload in chunks of about 64 Ki weights. A chunk depends on its own weights only (int*: and on S
// and Z). Also collects what encoding learns about the data.
//
// Blocks are numbered over all rows. In these numbers, a row of k* counts as whole super-blocks, although the blocks
// after its end are not stored. int* tensors are one row.
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

// The stored bytes of consecutive chunks. Reusing an object avoids new allocations.
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
  std::size_t first_ = 0;  // the first chunk
};

class Chunks {
 public:
  // The options must fit the geometry.
  Chunks(const Tensor& tensor, const Geometry& geometry, const EncodeOptions& options);

  const Tensor& tensor() const { return tensor_; }
  const Geometry& geometry() const { return geometry_; }
  std::size_t count() const { return slots_.size(); }
  // Input bytes per chunk.
  std::uint64_t input_bytes() const;
  WeightStream values(std::size_t chunk) const;

  // Offsets of a chunk's first bytes in each region. For chunk `count()` they are the sizes of the regions.
  struct Place {
    std::uint64_t scales = 0, sub_scales = 0, codes = 0;
  };
  Place place(std::size_t chunk) const;

  // Makes room for the bytes of chunks [first, end).
  void prepare(std::size_t first, std::size_t end, ChunkBytes& bytes) const;
  // Makes the bytes of one of these chunks. `values` must be at the chunk's first element; afterwards it is after its
  // last. May be called any number of times per chunk, from many threads.
  void make(std::size_t chunk, WeightStream& values, ChunkBytes& bytes) const;
  // S and Z of int*. The first call reads all weights: once, or twice with a search (unless `fast`).
  ScaleZero parameters() const;
  // min_clip and max_clip, unless the options set them. Free once every chunk has been made.
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
  // `values` are encoded; `source` are the same values before clipping.
  struct Run {
    const float *values, *source;
  };
  Run read_run(std::uint64_t first, std::size_t blocks, WeightStream& values, ChunkBytes::Scratch& scratch) const;
  const float* clipped(const float* values, std::size_t count, float* copy) const;
  [[noreturn]] void refuse(const Encoded& why, std::uint64_t first, const float* values) const;
  void settle(std::size_t chunk, const Slot& slot) const;
  void fill_report() const;
  // int*: the range that the codes cover, searched unless `fast`. Other methods: the range of the weights.
  Range range_of_all() const;

  Tensor tensor_;
  Geometry geometry_;
  EncodeOptions options_;
  std::uint64_t row_blocks_;  // q*, k*: blocks per row, as numbered
  std::uint64_t blocks_;
  std::vector<float> importance_;  // for one row, padded like the values

  mutable Once ranged_;
  mutable Range range_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::vector<Slot> slots_;
  mutable std::size_t made_ = 0;
};

}  // namespace tare::codec::mcf
