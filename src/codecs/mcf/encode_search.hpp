// The search for the scales of q* and k* that lose least: its parameters, and a scalar reference of it.
//
// All arithmetic is IEEE f32, rounded to nearest with ties to even after each operation, nothing fused, sums taken in the
// order given here. So every machine chooses the same scales, and with them the same codes.
//
// a_i = |w_i| are the 32 magnitudes of a block (0 behind the end of the row), p_i their importance (1 without one).
//
//   codes of a step   q_i = rint(a_i * v) cut to qmax, where v = 1 / scale
//   fit of codes      A = sum of (p_i a_i) q_i,  B = sum of p_i (q_i q_i),  i ascending.
//                     Codes kept, the scale t = A / B loses least; A t is what it saves against losing the whole block.
//   loss of a scale   E(t) = sum of p_i (e_i e_i), e_i = a_i - t q_i, for the codes of the step t (all 0 when t = 0)
//
//   block             tries v = (qmax / absmax) * (first + c step), c = 0 ... count - 1; the fit that saves most, the
//                     first of equals, gives s = A / B, A and B. (Nothing saves anything: s = absmax / qmax, A = B = 0.)
//   q*                S = f16(s). Below f16's normal numbers, where f16() rounds up, also the next smaller ones of S and
//                     of the S of `fast`. The one with the least E, the first of equals, is taken if that is
//                     < better * E(S of `fast`).
//   k*                tries S = f16(32 s_max / (63 - j)), j = 0 ... 15, s_max the largest s: u = rint(s (32 / S)) within
//                     1..63, t = S (u / 32), and takes the S for which the sum over the blocks of t (2 A - t B), what the
//                     fits save, or 0 where that is less (other codes will save more), is largest, the first of equals. Then each block takes of u, u - 1, u + 1 the first
//                     that has the least E. A block of zeros has u = 0. Taken if the sum of E over the blocks is less
//                     than better * that of `fast`.
//
//   k*, S < 2^-14     Some readers take an f16 below its normal numbers for 0, and with it the super-block. So where the S
//                     above is one, a super-scale that is not may cost 1 % of the rms error, `near` = 1.0201 times the
//                     least sum of E, that of the above or of `fast`. S = 2^-14 (1 + j / 128), j = 0 ... 63, are tried, each
//                     block taking of u, u - 3 ... u + 3 the first that has the least E; the first S within that is taken.
//                     (Where the first of all loses more than 1.5 times as much, no other is tried.) If none is, but one
//                     is within `almost` = 1.0125 of it, more are tried with u - 5 ... u + 5: all f16 up to 1.5 * 2^-14,
//                     and every eighth up to 2^-13. If the S of `fast` is a normal number, S must lose less than better * `fast`, too; if none does, `fast` is kept where
//                     it is within that itself.
//
// `better` is 1 - 2^-16: more than the rounding of both sums, so that no block (q*) or super-block (k*) ever loses more
// than by `fast`, in exact arithmetic; but for the one percent that a super-scale in f16's normal numbers may cost where
// `fast` has none.
//
// The multiples are those beyond which nothing was gained on Gaussian and on Laplace weights: below 1 the range of codes
// is wider than the weights and only chance makes the grid fit better, which pays with many codes; above 1 the largest
// weights are cut, which pays with few.
#pragma once

#include <cmath>
#include <optional>
#include <span>

#include "codecs/mcf/reference.hpp"

namespace tare::codec::mcf {

struct Search {
  float first, step;
  unsigned count;  // a multiple of 4
};
// Of q* and k*.
Search search_of(const Method& method);

inline constexpr unsigned kSuperTries = 16;
inline constexpr float kBetter = 1 - 0x1p-16f;
// Super-scales among f16's normal numbers: the first, the step to the next that is tried (in units of 2^-24), how many,
// how far their sub-scales are looked for, what they may cost, and at what cost of the first the others are hopeless.
inline constexpr std::uint16_t kLeastNormal = 0x0400;
inline constexpr unsigned kNormalTries = 64, kNormalStep = 8;
inline constexpr int kNormalReach = 3;
inline constexpr float kNear = 1.0201f, kHopeless = 1.5f;
// When none of these will do, but one almost does: all up to there, and beyond it as many again, in steps as above.
inline constexpr float kAlmost = 1.0125f;
inline constexpr unsigned kFineTries = 512, kCloseTries = kFineTries + 64;
inline constexpr int kCloseReach = 5;
constexpr std::uint16_t close_normal(unsigned j) {
  return static_cast<std::uint16_t>(kLeastNormal + (j < kFineTries ? j : kFineTries + (j - kFineTries) * kNormalStep));
}
constexpr bool is_normal_f16(std::uint16_t bits) { return (bits & 0x7C00) != 0; }
// The least divisor of qmax / absmax: a block of smaller weights than f16 can scale is not searched, but must not overflow.
inline constexpr float kLeastAbsmax = 0x1p-60f;
inline constexpr float kLargestScale = 65504;
// Up to here the next smaller f16 of a scale is tried, too.
inline constexpr float kSmallScale = 0x1p-14f;
inline constexpr float kSmallStep = 0x1p-24f;  // between f16 numbers up to there

// What a super-scale among the normal numbers may lose, and whether `fast` may be kept in its place.
struct Normal {
  float most;
  bool fast;
};
inline Normal normal_allowance(float searched, float fast, bool fast_is_normal) {
  const float near = kNear * (searched < kBetter * fast ? searched : fast);
  if (!fast_is_normal) return {near, false};
  // Below `fast` by more than rounding, as all that replaces it.
  const float below_fast = std::nextafter(kBetter * fast, 0.0f);
  return {near < below_fast ? near : below_fast, fast <= near};
}

// As reference_encode_row, with searched scales. `importance` is empty or has a value for each column: finite, not
// negative, at most 1.
std::optional<std::uint64_t> reference_search_row(const Method& method, std::span<const float> row,
                                                  std::span<const float> importance, const RowTarget& target);

}  // namespace tare::codec::mcf
