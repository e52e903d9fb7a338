// Encoding to ggml's types: what every machine does, to the same bytes.
//
// A part is what shares a scale: 16 or 32 weights. 16 parts are coded together: as many blocks of 32, two blocks of 256 in
// parts of 32, or one in parts of 16. All arithmetic is IEEE f32, rounded to nearest with ties to even after each operation,
// nothing fused, sums in ascending order. With vectors, lane l has part l: each lane does what a scalar loop would do, and
// the target HWY_SCALAR is that loop.
//
// x_i are the weights of a part, p_i their importance (1 without one).
//
// Types without a minimum. A weight becomes t q, q a code from `lowest` to `highest` (of the IQ4 types: a value of a table).
//
//   codes of a scale   q_i = the code nearest to x_i * v within the range, v = 1 / t (0 when t = 0)
//   fast               t = e / fast, e the first weight of the largest magnitude (Q8_0: the magnitude itself)
//   fit                tries v = (1 / e) * step for every one of `steps`; A = sum of (p x) q, B = sum of p (q q). Codes kept,
//                      t = A / B loses least, and A t is what it saves. That saving most is kept, the first of equals.
//   loss of a scale    the sum of p (w w), w = x - t q, for the codes of t
//   block of 32        f16(t) of the fit; below f16's normal numbers, where rounding may cost more than the fit saves, of
//                      f16(t of `fast`) and this the first that loses least. (The step of `fast` is among `steps`, so
//                      that no block loses more than by it, but for rounding.)
//   block of 256       the scale of a part is t = D u, u from `sub_lowest` to `sub_highest`. Sixteen D are tried,
//                      f16(t / divisor) with the t of the largest magnitude: u = rint(t (1 / D)) saves t (2 A - t B) by t =
//                      D u, or 0 when that is less. That saving most is kept. Then each part takes of u, u - 1, u + 1 the
//                      first that loses least.
//
// Types with a minimum. A weight becomes d q + m, q from 0 to `highest`; m <= 0 in blocks of 256. low and high are the least
// and the largest weight (blocks of 256: low <= 0), mid = (low + high) / 2, y = x - mid, h = highest / 2, c = q - h.
//
//   fast               d = (high - low) / highest, m = low
//   fit                tries ranges that leave out or add some at either end: v = (highest / (high - low)) * factor, codes
//                      q = rint(y v + o) within 0 ... highest, o = ((0.5 - low share) (high - low)) v. Least squares for
//                      y = d c + n give d and n = m - mid + d h, from the sums of p, p y, p c, p c c and p y c; if m > 0
//                      may not be, m = 0 and d fits that. That saving most is kept, if 0 < d <= high - low.
//   block of 32        d = f16(d), m = f16 of what fits this d best; or those of `fast`; the first that loses least
//   block of 256       d = D a, m = -M b with whole a and b. D as above with the m that fits each a best, then M likewise
//                      with that m. Then each part takes of a, a - 1, a + 1, each with the b that fits it best, and of
//                      (a, b - 1), (a, b + 1) the first that loses least.
//
// MXFP4 has a power of two for a scale. fast: the one by which the largest magnitude becomes 4 or more and less than 8.
// Otherwise that one, half and twice of it are tried; the first that loses least is taken.
//
// f16() is the nearest, but a scale that is not 0 never becomes 0; by `fast` it is rounded up below f16's normal numbers,
// so that nothing is cut. What needs more than 65504 by `fast` is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codecs/block_codec.hpp"

namespace tare::codec::ggml {

inline constexpr std::size_t kParts = 16;
inline constexpr std::size_t kMostPart = 32;
inline constexpr std::size_t kDivisors = 16;

enum class Grid : std::uint8_t { linear, table, floats, affine };

// A range that is tried: shares of high - low that are left out at the lower end, and at both.
struct Trim {
  float low = 0;
  float factor = 1;  // 1 / (1 - what is left out at both)
};
constexpr Trim trim(float low, float high) { return {low, 1 / (1 - low - high)}; }

struct Spec {
  Grid grid = Grid::linear;
  std::size_t part = 32;
  float lowest = 0, highest = 0;
  float fast = 0;
  bool magnitude = false;
  std::span<const float> steps = {};  // a multiple of 4
  bool cuts = true;                   // some step maps the extreme beyond the codes
  std::span<const Trim> trims = {};   // likewise
  // Blocks of 256:
  std::size_t super = 0;  // parts in one; 0: each part is a block
  float sub_lowest = 0, sub_highest = 0;
  std::array<float, kDivisors> divisors = {};  // the first is that of `fast`
};

// 16 parts: their weights one behind the other.
struct Parts {
  const float* weights = nullptr;
  const float* importance = nullptr;  // null: all alike
  bool fast = false;
};

struct CodedParts {
  alignas(64) std::array<std::uint8_t, kParts * kMostPart> codes;  // less `lowest`; of Q8_0 as they are
  // f16 of each part, or of each block of 256.
  std::array<std::uint16_t, kParts> scale, minimum;
  std::array<std::uint8_t, kParts> sub_scale, sub_minimum;  // MXFP4: the exponent
  std::size_t fitting = kParts;                             // parts in front of the first that f16 cannot scale
};

// Blocks of Q8_0 by `fast`, as many in front as have a scale that is a normal f16 and as the processor has instructions for;
// how many those are. The others are for code_parts.
std::size_t fast_q8_0(const float* weights, std::size_t count, std::byte* blocks);

// With whatever SIMD the processor has.
void code_parts(const Spec& spec, const Parts& in, CodedParts& out);

std::size_t encode_q4_0(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q4_1(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q5_0(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q5_1(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q8_0(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q2_k(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q3_k(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q4_k(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q5_k(const BlockWeights& in, std::byte* blocks);
std::size_t encode_q6_k(const BlockWeights& in, std::byte* blocks);
std::size_t encode_iq4_nl(const BlockWeights& in, std::byte* blocks);
std::size_t encode_iq4_xs(const BlockWeights& in, std::byte* blocks);
std::size_t encode_mxfp4(const BlockWeights& in, std::byte* blocks);

}  // namespace tare::codec::ggml
