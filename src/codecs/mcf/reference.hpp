// The arithmetic of MCF's quantization, one element at a time, as MCF's document defines it. The fast kernels must give
// the same results; nothing in this file is fast.
//
// All arithmetic is IEEE f32, rounded to nearest even after each operation; nothing is fused.
//
//   decode   q*: w = S * q                 S is the block's f16
//            k*: w = (S * (u / 32)) * q    S is the super-block's f16, u the block's sub-scale
//            int*: x = S * (q - Z)         S and Z are f32; weights have Z = 0, so the subtraction changes nothing
//            For q* and k* every product is exact: 11 bits of S, 6 of u and at most 8 of q fit the 24 bits of an f32.
//   encode   ("fast": scales from the largest magnitude)
//            s = absmax / qmax, one per block
//            q*: S = f16(s)
//            k*: S = f16(largest s of the super-block); u = rint((32 * s) / S) clamped to 1..63, or 0 if s = 0
//            q = rint(w * (1 / scale)) clamped to [-qmax, qmax], scale = S or S * (u / 32) as stored; all 0 for scale 0
//            int*: S = absmax / qmax as f32; q = rint(w / S) clamped (a division, because 1 / S may overflow)
//            int*, activations: S = f32((max - min) / (2^bits - 1)), in f64, for a range extended to include 0;
//            Z = rint(-2^(bits-1) - min / S) clamped to the codes, in f64; q = rint(x / S) + Z clamped
//            If a code would decode to infinity, S is the largest f32 for which none does.
//   f16(s)   rounds to nearest even; but upwards below f16's normal numbers, where rounding down could clip the largest
//            weight to two thirds or lose the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "codecs/mcf/layout.hpp"
#include "codecs/quantized_vector.hpp"

namespace tare::codec::mcf {

// Some rows of a payload, or a part of one row that begins at a multiple of 256 columns. Each pointer is at the first
// byte that belongs to them; rows have no gaps between them. The object does not own the bytes.
struct RowSpan {
  const Method* method = nullptr;
  std::uint64_t rows = 0, columns = 0;
  const std::byte* scales = nullptr;      // f16; null for int*
  const std::byte* sub_scales = nullptr;  // k* only
  const std::byte* codes = nullptr;
  bool odd_start = false;     // int4: the first code is in the high nibble of its byte
  float scale = 0, zero = 0;  // int*: S and Z

  std::uint64_t blocks() const { return (columns + kBlock - 1) / kBlock; }
  std::uint64_t supers() const { return (columns + kSuper - 1) / kSuper; }
};

// Rows [first, first + count) of a payload in memory. The geometry must be the payload's.
RowSpan rows_of(const Geometry& geometry, const std::byte* payload, std::uint64_t first, std::uint64_t count);

// One row of `rows`.
RowSpan row_of(const RowSpan& rows, std::uint64_t index);

// The code at `index` of a packed run: least significant bits first, sign-extended.
int code_at(unsigned bits, const std::byte* codes, std::uint64_t index);
// Stores a code at `index`; its bits must be 0 before.
void put_code(unsigned bits, std::byte* codes, std::uint64_t index, int code);

// The scale of a block's codes. `block` counts from the row's first.
float block_scale(const RowSpan& row, std::uint64_t block);

// Writes rows * columns values.
void reference_decode(const RowSpan& rows, std::span<float> out);

// The sum of w * x over a row, in f64. `vector` has `columns` values.
double reference_dot(const RowSpan& row, std::span<const float> vector);

using Vector = QuantizedVector::Data;

// The sum over the blocks of a row of (scale * d) * (sum of q * q' as i32), in f64. int*: scale = S, and q - Z instead
// of q; the sum of Z times the vector's codes is in f64.
double reference_dot(const RowSpan& row, const Vector& vector);

// f16(s) as described above. Infinity if s is beyond f16.
std::uint16_t round_scale(float scale);

// Where a row is encoded to; each pointer is at the row's first byte.
struct RowTarget {
  std::byte* scales = nullptr;
  std::byte* sub_scales = nullptr;
  std::byte* codes = nullptr;
};

// Encodes one row with q* or k*; writes all its bytes. The weights must be finite. Returns the index of the first block
// (k*: super-block) whose scale does not fit f16, or nothing if all fit.
std::optional<std::uint64_t> reference_encode_row(const Method& method, std::span<const float> row,
                                                  const RowTarget& target);

// S and Z of an int* tensor whose values are in [min, max].
struct ScaleZero {
  float scale = 0, zero = 0;
};
ScaleZero scale_zero(const Method& method, Domain domain, float min, float max);

// Encodes elements [first, first + values.size()) of an int* tensor into its codes region, which must be zero there.
void reference_encode_raw(const Method& method, Domain domain, const ScaleZero& parameters,
                          std::span<const float> values, std::byte* codes, std::uint64_t first);

}  // namespace tare::codec::mcf
