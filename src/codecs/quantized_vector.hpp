// The contents of a QuantizedVector, for the row kernels.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "tare/rows.hpp"

namespace tare {

// A vector quantized to 8 bits with a scale per 32 values, as runtimes do with activations: d = absmax / 127 and q =
// rint(x / d) clamped to [-127, 127], all f32. A block of zeros has d = 0. A block with a NaN or infinity has d = NaN,
// which makes every product with it NaN.
struct QuantizedVector::Data {
  static constexpr std::uint64_t kBlock = 32;
  // Kernels process 16 blocks at a time, so everything is padded with zeros to a multiple of that.
  static constexpr std::uint64_t kPadding = 16 * kBlock;

  std::uint64_t columns = 0;
  AlignedVector<std::int8_t> codes;
  AlignedVector<float> scales;  // d of each block

  // The rest is derived, for the kernels. If a row has several codes per byte, the vector's codes are split into
  // planes, so that each plane is multiplied with the codes at one position of the bytes. Plane j of p holds columns j,
  // j + p, j + 2p, ... `offsets` has one entry per 4 bytes of a row: the sum of the vector's codes for these bytes,
  // times -128 (for 4 bits times -8, for 2 bits times -2).
  struct Planes {
    AlignedVector<std::int8_t> codes[4];
    AlignedVector<std::int32_t> offsets;
  };
  Planes ones, twos, fours;  // for rows with 1, 2 and 4 codes per byte; the only plane of `ones` is `codes`
  double total = 0;          // sum of d * q over the whole vector
  // d times the sum of each 32 and of each 16 codes, which kernels multiply with minimums; and the d of each 16 codes.
  AlignedVector<float> sums, half_sums, half_scales;

  std::uint64_t blocks() const { return (columns + kBlock - 1) / kBlock; }
};

// Fills the sums from the codes, the scales and the offsets of `ones`.
void add_sums(QuantizedVector::Data& vector);

// Both quantize `vector` to the same codes and scales: the first one value at a time, the second with SIMD.
QuantizedVector::Data reference_vector(std::span<const float> vector);
QuantizedVector::Data quantized(std::span<const float> vector);

}  // namespace tare
