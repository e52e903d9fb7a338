// A reader of floats that can also produce them as bf16.
#pragma once

#include <span>

#include "tare/blob.hpp"

namespace tare {

class NarrowReader : public BlobReader {
 public:
  // Fills `out` with the next floats, rounded to bf16 as floats_to_bf16 (simd_floats.hpp) does, if possible without a
  // buffer of floats in between. Do not mix with `read` on one reader. Returns false if a finite float became infinite.
  virtual bool read_bf16(std::span<std::byte> out) = 0;
};

}  // namespace tare
