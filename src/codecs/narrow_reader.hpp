// A reader of floats that can make them bf16 as well.
#pragma once

#include <span>

#include "tare/blob.hpp"

namespace tare {

class NarrowReader : public BlobReader {
 public:
  // The next floats as floats_to_bf16 (simd_floats.hpp) rounds them, without a buffer of floats in between where that can
  // be avoided. Not on a reader that `read` was called on, nor `read` after this. False if among what was made for it are
  // finite ones that became infinite.
  virtual bool read_bf16(std::span<std::byte> out) = 0;
};

}  // namespace tare
