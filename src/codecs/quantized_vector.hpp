// What is inside a QuantizedVector, for the row kernels.
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.hpp"
#include "tare/rows.hpp"

namespace tare {

// A vector quantized to 8 bits for every 32 values, as runtimes do with activations: d = absmax / 127,
// q = rint(x / d) clamped to [-127, 127], all f32. A block of zeros has d = 0. A block with a NaN or infinity has d = NaN,
// and so does every product with it.
struct QuantizedVector::Data {
  static constexpr std::uint64_t kBlock = 32;
  // Kernels walk over 16 blocks at a time: everything is padded with zeros to that.
  static constexpr std::uint64_t kPadding = 16 * kBlock;

  std::uint64_t columns = 0;
  AlignedVector<std::int8_t> codes;
  AlignedVector<float> scales;  // d of each block

  // The rest is made from those, for the kernels: the codes that meet the codes of a row which share a byte, apart.
  // Plane j of p holds columns j, j + p, j + 2p, ...; for every 4 bytes of a row, -128 times the sum of the codes that
  // they meet (for 4 bits -8 times, for 2 bits -2 times).
  struct Planes {
    AlignedVector<std::int8_t> codes[4];
    AlignedVector<std::int32_t> offsets;
  };
  Planes ones, twos, fours;  // 1, 2 and 4 codes of a row in a byte; the only plane of `ones` is `codes`
  double total = 0;          // the sum of d * q over the whole vector
  // For each 32 and each 16 codes d times their sum: what meets a minimum. For each 16 their d.
  AlignedVector<float> sums, half_sums, half_scales;

  std::uint64_t blocks() const { return (columns + kBlock - 1) / kBlock; }
};

// From the codes, the scales and the offsets of `ones`.
void add_sums(QuantizedVector::Data& vector);

// Of these values; one weight at a time, and with whatever SIMD the processor has: the same codes and scales.
QuantizedVector::Data reference_vector(std::span<const float> vector);
QuantizedVector::Data quantized(std::span<const float> vector);

}  // namespace tare
