// The search for the scales of q* and k* that lose least: its parameters, and a scalar reference.
//
// All arithmetic is IEEE f32, rounded to nearest even after each operation, never fused; sums are in the order given
// here. So every machine chooses the same scales and the same codes.
//
// a_i = |w_i| are the 32 magnitudes of a block (0 after the end of the row), p_i their importance (1 if none is given).
//
//   codes of a scale  q_i = rint(a_i * v), at most qmax, where v = 1 / scale
//   fit of codes      A = sum of (p_i a_i) q_i,  B = sum of p_i (q_i q_i),  i ascending.
//                     For these codes the scale t = A / B has the least squared error; it saves A t compared to t = 0.
//   loss of a scale   E(t) = sum of p_i (e_i e_i), e_i = a_i - t q_i, for the codes of the scale t (all 0 if t = 0)
//
//   block             tries v = (qmax / absmax) * (first + c step), c = 0 ... count - 1. The fit that saves most, the
//                     first of equals, gives s = A / B, A and B. (If none saves any: s = absmax / qmax, A = B = 0.)
//   q*                S = f16(s). Below f16's normal numbers, where f16() rounds up, the next smaller f16 of S and of
//                     the S of `fast` are tried, too. The S with the least E, the first of equals, is taken if its E is
//                     less than better * E(S of `fast`).
//   k*                tries S = f16(32 s_max / (63 - j)), j = 0 ... 15, s_max the largest s: u = rint(s (32 / S))
//                     within 1..63, t = S (u / 32). A block saves t (2 A - t B), or 0 if that is negative (other codes
//                     will save more). The S for which all blocks together save most wins, the first of equals. Then
//                     each block takes the u, u - 1 or u + 1 with the least E, the first of equals. A block of zeros
//                     has u = 0. The result is taken if its sum of E is less than better * that of `fast`.
//
//   k*, S < 2^-14     Some readers treat subnormal f16 as 0, which makes the whole super-block 0. So if the S above is
//                     subnormal, a normal one may cost 1 % of the rms error: its sum of E may be `near` = 1.0201 times
//                     that of the result above or of `fast`, whichever would be taken. S = 2^-14 (1 + j / 128),
//                     j = 0 ... 63, are tried; each block takes the u - 3 ... u + 3 with the least E, u first; the
//                     first S within that limit is taken. (If the very first S loses more than 1.5 times the limit, no
//                     other is tried.) If none is within the limit, but one is within `almost` = 1.0125 times it, more
//                     are tried with u - 5 ... u + 5: all f16 up to 1.5 * 2^-14, then every eighth up to 2^-13. If the
//                     S of `fast` is normal, S must also lose less than better * `fast`; if none does and `fast` is
//                     within `near` itself, `fast` is kept.
//
// `better` is 1 - 2^-16, a larger margin than the rounding of both sums: in exact arithmetic, no block (q*) or
// super-block (k*) ever loses more than with `fast`. The exception is the one percent for a normal super-scale if that
// of `fast` is subnormal.
//
// The multiples end where more gained nothing on Gaussian and Laplace weights. Below 1, the codes cover more than the
// weights, and only chance makes the grid fit better, which pays with many codes; above 1, the largest weights are
// clipped, which pays with few codes.
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
// For q* and k*.
Search search_of(const Method& method);

inline constexpr unsigned kSuperTries = 16;
inline constexpr float kBetter = 1 - 0x1p-16f;
// Normal f16 to try as super-scales: the first, how many, the step between them (in units of 2^-24), how far from u
// sub-scales are searched, how much they may lose, and by how much the first must fail to try no others.
inline constexpr std::uint16_t kLeastNormal = 0x0400;
inline constexpr unsigned kNormalTries = 64, kNormalStep = 8;
inline constexpr int kNormalReach = 3;
inline constexpr float kNear = 1.0201f, kHopeless = 1.5f;
// If one of these almost succeeds: the first kFineTries f16, then 64 more in steps of kNormalStep.
inline constexpr float kAlmost = 1.0125f;
inline constexpr unsigned kFineTries = 512, kCloseTries = kFineTries + 64;
inline constexpr int kCloseReach = 5;
constexpr std::uint16_t close_normal(unsigned j) {
  return static_cast<std::uint16_t>(kLeastNormal + (j < kFineTries ? j : kFineTries + (j - kFineTries) * kNormalStep));
}
constexpr bool is_normal_f16(std::uint16_t bits) { return (bits & 0x7C00) != 0; }
// Lower bound for absmax in qmax / absmax, so that it does not overflow if the weights are too small for f16 scales.
inline constexpr float kLeastAbsmax = 0x1p-60f;
inline constexpr float kLargestScale = 65504;
// Up to this scale, the next smaller f16 is tried, too.
inline constexpr float kSmallScale = 0x1p-14f;
inline constexpr float kSmallStep = 0x1p-24f;  // distance of f16 numbers up to kSmallScale

// How much a normal super-scale may lose, and whether `fast` is kept if there is none.
struct Normal {
  float most;
  bool fast;
};
inline Normal normal_allowance(float searched, float fast, bool fast_is_normal) {
  const float near = kNear * (searched < kBetter * fast ? searched : fast);
  if (!fast_is_normal) return {near, false};
  // Whatever replaces `fast` must lose less, by more than rounding errors.
  const float below_fast = std::nextafter(kBetter * fast, 0.0f);
  return {near < below_fast ? near : below_fast, fast <= near};
}

// Like reference_encode_row, with searched scales. `importance` is empty or has a value per column: finite, not
// negative, at most 1.
std::optional<std::uint64_t> reference_search_row(const Method& method, std::span<const float> row,
                                                  std::span<const float> importance, const RowTarget& target);

}  // namespace tare::codec::mcf
