// Measures what encoding loses, chunk by chunk. The EncodeReport does not depend on the order of the chunks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tare/codec.hpp"

namespace tare::codec {

// Losses of one chunk.
struct ChunkLoss {
  double squared_sum = 0, squared_error = 0, max_error = 0;
  // The block with the largest squared error: its first element in the tensor, and that error.
  std::uint64_t worst_block = 0;
  double worst_error = 0;
  // Number of f16 scales, and how many of them are subnormal.
  std::uint64_t scales = 0, subnormal = 0;

  // Adds one block; decoded(i) returns the decoded value of weight i.
  template <typename Weight, typename Decoded>
  void add_block(std::uint64_t first_element, std::span<const Weight> weights, const Decoded& decoded) {
    double error = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double weight = weights[i], off = std::fabs(weight - static_cast<double>(decoded(i)));
      squared_sum += weight * weight;
      error += off * off;
      max_error = std::max(max_error, off);
    }
    squared_error += error;
    if (error <= worst_error) return;
    worst_error = error;
    worst_block = first_element;
  }
  void add_scale(std::uint16_t bits) {
    ++scales;
    subnormal += (bits & 0x7C00) == 0 && (bits & 0x03FF) != 0 ? 1 : 0;
  }
};

class LossReport {
 public:
  LossReport(std::shared_ptr<EncodeReport> report, std::uint64_t elements, std::uint64_t chunks);
  // Records a chunk; may be called again for it, always with the same numbers. The last missing chunk fills the report.
  void settle(std::uint64_t chunk, const ChunkLoss& loss);

 private:
  std::shared_ptr<EncodeReport> report_;
  std::uint64_t elements_;
  std::mutex mutex_;  // guards the members below
  std::vector<ChunkLoss> chunks_;
  std::vector<bool> made_;
  std::uint64_t left_;
};

}  // namespace tare::codec
