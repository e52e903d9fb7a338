// The arithmetic of MCF's quantization, one element at a time, as the document has it. This file defines what the fast
// kernels must give; nothing here is fast.
//
// All arithmetic is IEEE f32, rounded to nearest with ties to even after each operation; nothing is fused.
//
//   decode   q*: w = S * q                 S the block's f16
//            k*: w = (S * (u / 32)) * q    S the super-block's f16, u the block's sub-scale
//            int*: x = S * (q - Z)         S and Z f32; weights have Z = 0, where the subtraction changes nothing
//            For q* and k* every product is exact: 11 bits of S, 6 of u and at most 8 of q fit the 24 of an f32.
//   encode   ("fast", scales from the largest magnitude)
//            s = absmax / qmax, one for each block
//            q*: S = f16(s)
//            k*: S = f16(largest s of the super-block); u = rint((32 * s) / S) clamped to 1..63, or 0 when s = 0
//            q = rint(w * (1 / scale)) clamped to [-qmax, qmax], scale = S or S * (u / 32) as stored; all 0 for scale 0
//            int*: S = absmax / qmax as f32; q = rint(w / S) clamped (a division: 1 / S may overflow)
//            int*, activations: S = f32((max - min) / (2^bits - 1)), made in f64, of a range widened to hold 0;
//            Z = rint(-2^(bits-1) - min / S) clamped to the codes, made in f64; q = rint(x / S) + Z clamped
//            Where a code would decode to an infinity, S is the largest f32 by which none does.
//   f16(s)   nearest, ties to even; but upwards below f16's normal numbers, where rounding down could cut the largest
//            weight to two thirds or lose the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "codecs/mcf/layout.hpp"
#include "codecs/quantized_vector.hpp"

namespace tare::codec::mcf {

// Some rows of a payload, or a part of one row that begins at a multiple of 256 columns: each pointer is at the first
// byte that belongs to them. Rows follow each other without gaps. The bytes belong to somebody else.
struct RowSpan {
  const Method* method = nullptr;
  std::uint64_t rows = 0, columns = 0;
  const std::byte* scales = nullptr;      // f16; null for int*
  const std::byte* sub_scales = nullptr;  // k*
  const std::byte* codes = nullptr;
  bool odd_start = false;     // int4: the first code is in the high nibble of its byte
  float scale = 0, zero = 0;  // int*: S and Z

  std::uint64_t blocks() const { return (columns + kBlock - 1) / kBlock; }
  std::uint64_t supers() const { return (columns + kSuper - 1) / kSuper; }
};

// Rows [first, first + count) of a payload that lies in memory whole. The geometry must be the payload's.
RowSpan rows_of(const Geometry& geometry, const std::byte* payload, std::uint64_t first, std::uint64_t count);

// One row of those.
RowSpan row_of(const RowSpan& rows, std::uint64_t index);

// The code at `index` of a packed run: least significant bits first, sign-extended.
int code_at(unsigned bits, const std::byte* codes, std::uint64_t index);
// Puts one there; the bits must be 0 before.
void put_code(unsigned bits, std::byte* codes, std::uint64_t index, int code);

// The scale that a block's codes are multiplied with. `block` counts from the row's first.
float block_scale(const RowSpan& row, std::uint64_t block);

// rows * columns values.
void reference_decode(const RowSpan& rows, std::span<float> out);

// The sum over a row of w * x, in f64. `vector` has `columns` values.
double reference_dot(const RowSpan& row, std::span<const float> vector);

using Vector = QuantizedVector::Data;

// The sum over the blocks of a row of (scale * d) * (sum of q * q' as i32), in f64. int*: scale = S, q - Z for q; Z times
// the codes of the vector is summed in f64.
double reference_dot(const RowSpan& row, const Vector& vector);

// f16(s) as above. Infinity when s is beyond f16.
std::uint16_t round_scale(float scale);

// What a row is encoded into; each pointer is at the row's first byte.
struct RowTarget {
  std::byte* scales = nullptr;
  std::byte* sub_scales = nullptr;
  std::byte* codes = nullptr;
};

// Encodes one row by q* or k*; writes every byte of it. The weights must be finite. Returns the index of the first
// block (k*: super-block) whose scale does not fit f16, or nothing when all is well.
std::optional<std::uint64_t> reference_encode_row(const Method& method, std::span<const float> row,
                                                  const RowTarget& target);

// S and Z of an int* tensor whose values lie in [min, max].
struct ScaleZero {
  float scale = 0, zero = 0;
};
ScaleZero scale_zero(const Method& method, Domain domain, float min, float max);

// Encodes elements [first, first + values.size()) of an int* tensor into its codes region, which is zero there.
void reference_encode_raw(const Method& method, Domain domain, const ScaleZero& parameters,
                          std::span<const float> values, std::byte* codes, std::uint64_t first);

}  // namespace tare::codec::mcf
