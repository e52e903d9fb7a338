// Encoding to ggml's types. Every machine produces the same bytes.
//
// A part is the weights that share a scale: 16 or 32. Sixteen parts are coded together: 16 blocks of 32 weights, two
// blocks of 256 in parts of 32, or one block of 256 in parts of 16. All arithmetic is IEEE f32, rounded to nearest even
// after each operation, never fused; sums are in ascending order. With SIMD, lane l holds part l, so each lane does
// what a scalar loop would do; the target HWY_SCALAR is that loop.
//
// x_i are the weights of a part, p_i their importance (1 if none is given).
//
// Types without a minimum. A weight becomes t q, q a code from `lowest` to `highest` (IQ4 types: a value of a table).
//
//   codes of a scale   q_i = the code nearest to x_i * v within the range, v = 1 / t (0 if t = 0)
//   fast               t = e / fast, e the first weight of the largest magnitude (Q8_0: the magnitude itself)
//   fit                tries v = (1 / e) * step for each of `steps`. Let A = sum of (p x) q, B = sum of p (q q). For
//                      these codes the scale t = A / B has the least squared error; it saves A t compared to t = 0. The
//                      candidate that saves most wins, the first of equals.
//   loss of a scale    the sum of p (w w), w = x - t q, for the codes of t
//   block of 32        the scale is f16(t) of the fit. If that is subnormal, rounding may cost more than the fit saves:
//                      then f16(t of `fast`) is used unless the fit loses less. (The step of `fast` is among `steps`,
//                      so apart from rounding no block loses more than with `fast`.)
//   block of 256       the scale of a part is t = D u, u from `sub_lowest` to `sub_highest`. Sixteen D are tried:
//                      f16(t / divisor), for the t of the largest magnitude. With u = rint(t (1 / D)), a part whose
//                      scale becomes t = D u saves t (2 A - t B), or 0 if that is negative. The D that saves most wins.
//                      Then each part takes the u, u - 1 or u + 1 that loses least, the first of equals.
//
// Types with a minimum. A weight becomes d q + m, q from 0 to `highest`; in blocks of 256, m <= 0. low and high are the
// smallest and the largest weight (blocks of 256: low <= 0), mid = (low + high) / 2, y = x - mid, h = highest / 2, and
// c = q - h.
//
//   fast               d = (high - low) / highest, m = low
//   fit                tries ranges that are shortened or extended at either end (`trims`):
//                      v = (highest / (high - low)) * factor, codes q = rint(y v + o) clamped to 0 ... highest,
//                      o = ((0.5 - low share) (high - low)) v. Least squares for y = d c + n give d and
//                      n = m - mid + d h, from the sums of p, p y, p c, p c c and p y c. If m must not be positive but
//                      is, m = 0 and d is fitted again. The candidate that saves most wins, if 0 < d <= high - low.
//   block of 32        d = f16(d), and m = f16 of the best m for this d; or those of `fast`, unless the fit loses less
//   block of 256       d = D a, m = -M b with integers a and b. D is chosen as above, with the best m for each a; then
//                      M in the same way for these m. Then each part takes the pair that loses least, the first of
//                      equals: a, a - 1, a + 1, each with the best b for it, then (a, b - 1), (a, b + 1).
//
// Types with one scale for more than 32 weights (Q1_0, Q2_0, TQ1_0, TQ2_0): the parts of a block are searched together. The
// sums A and B of a candidate are those of the parts, added in ascending order. t = A / B of the one that saves most; the next
// candidates are steps of 1 / t (`again`). Q1_0 has the codes -1 and 1, so one candidate is the best; `fast` is the same
// without importance.
//
// NVFP4 has 8-bit floats as scales, of which `fast` takes the least that is not below the largest magnitude / 6. Otherwise, the
// three before it, itself, the five after it, and 0 are tried; the one that loses least wins, the first of equals.
//
// MXFP4 has powers of two as scales. `fast` takes the one that scales the largest magnitude to at least 4 and less than
// 8. Otherwise that one, its half and its double are tried; the one that loses least wins, the first of equals.
//
// f16() rounds to nearest, but a nonzero scale never becomes 0. `fast` rounds up below f16's normal numbers, so that no
// weight is clipped. A block is refused if `fast` needs a scale above 65504.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codecs/block_codec.hpp"
#include "codecs/ggml/type_table.hpp"

namespace tare::codec::ggml {

inline constexpr std::size_t kParts = 16;
inline constexpr std::size_t kMostPart = 32;
inline constexpr std::size_t kDivisors = 16;

enum class Grid : std::uint8_t { linear, table, floats, affine, signs };

// A range to try: the share of high - low trimmed at the lower end (negative: added), and the factor for both ends.
struct Trim {
  float low = 0;
  float factor = 1;  // 1 / (1 - the shares trimmed at both ends)
};
constexpr Trim trim(float low, float high) { return {low, 1 / (1 - low - high)}; }

struct Spec {
  Grid grid = Grid::linear;
  std::size_t part = 32;
  float lowest = 0, highest = 0;
  float fast = 0;
  bool magnitude = false;             // scales are positive
  bool signed_codes = false;          // codes are stored as they are, not minus `lowest`
  std::span<const float> steps = {};  // their number is a multiple of 4
  bool cuts = true;                   // some step maps the extreme weight beyond the codes
  std::span<const Trim> trims = {};   // their number is a multiple of 4
  // For blocks of 256:
  std::size_t super = 0;  // parts per block; 0: each part is a block
  bool joined = false;    // all parts of a block have the scale of the block
  std::span<const float> again = {};
  float sub_lowest = 0, sub_highest = 0;
  std::array<float, kDivisors> divisors = {};  // `fast` uses the first
};

// The weights of 16 parts, one part after the other.
struct Parts {
  const float* weights = nullptr;
  const float* importance = nullptr;  // null: all equal
  bool fast = false;
};

struct CodedParts {
  alignas(64) std::array<std::uint8_t, kParts * kMostPart> codes;  // minus `lowest`, so unsigned; Q8_0: signed
  // The f16 of each part, or of each block of 256.
  std::array<std::uint16_t, kParts> scale, minimum;
  std::array<std::uint8_t, kParts> sub_scale, sub_minimum;  // MXFP4: sub_scale is the exponent
  std::size_t fitting = kParts;                             // parts before the first whose scale does not fit f16
};

// Encodes leading blocks of Q8_0 as `fast` does, with special instructions, and returns how many. Stops before a group
// of blocks with a scale that is not a normal f16; returns 0 on processors without these instructions. code_parts
// encodes the rest.
std::size_t fast_q8_0(const float* weights, std::size_t count, std::byte* blocks);

// Uses the best SIMD of the processor.
void code_parts(const Spec& spec, const Parts& in, CodedParts& out);

// Encodes blocks of a type that has a method; see BlockCodec.
std::size_t encode(Type type, const BlockWeights& in, std::byte* blocks);

}  // namespace tare::codec::ggml
