// The search for scales with SIMD. Included once per SIMD target.
//
// It transposes 16 blocks at a time: lane l of a vector belongs to block l, and loops over the 32 values of a block are
// loops over vectors. So each lane does what the scalar reference does, in the same order, whatever the number of
// lanes. When a super-scale is chosen, the lanes are its candidates.
#if defined(TARE_MCF_ENCODE_SIMD_SEARCH_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_MCF_ENCODE_SIMD_SEARCH_HPP
#undef TARE_MCF_ENCODE_SIMD_SEARCH_HPP
#else
#define TARE_MCF_ENCODE_SIMD_SEARCH_HPP
#endif

#include <algorithm>
#include <cmath>

#include "codecs/mcf/encode_search.hpp"
#include "codecs/mcf/encode_simd_scales.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

// 16 transposed blocks: value i of block l is at [(l / kLanes * 32 + i) * kLanes + l % kLanes].
struct Tile {
  // Groups of kLanes blocks without a weight other than zero, which is what a tensor with short rows is padded with. Their
  // values are not set: every fit and every loss of theirs is zero.
  bool empty[kTile / kLanes] = {};
  alignas(64) float a[kTile * kBlock];   // magnitudes
  alignas(64) float pa[kTile * kBlock];  // magnitudes times importance
  alignas(64) float p[kTile * kBlock];   // importance
};

template <bool kMagnitude>
HWY_INLINE void turn_block(const float* block, std::size_t lane, float* out) {
  float* const to = out + lane / kLanes * kLanes * kBlock + lane % kLanes;
  for (std::size_t i = 0; i < kBlock; ++i) to[i * kLanes] = kMagnitude ? std::fabs(block[i]) : block[i];
}

template <bool kWeighted>
void turn(const Blocks& in, std::size_t first, std::size_t blocks, const float* absmax, Tile& tile) {
  static constexpr float kZeros[kBlock] = {};
  // With importance, which multiplies every loss, nothing is skipped: the product need not be zero.
  if constexpr (!kWeighted)
    for (std::size_t l = 0; l < kTile; l += kLanes) {
      const std::size_t end = std::max(l, std::min(l + kLanes, blocks));
      tile.empty[l / kLanes] = std::all_of(absmax + l, absmax + end, [](float most) { return most == 0; });
    }
  for (std::size_t l = 0; l < kTile; ++l) {
    if (tile.empty[l / kLanes]) continue;
    const std::size_t b = first + l;
    turn_block<true>(l < blocks ? in.values + b * kBlock : kZeros, l, tile.a);
    if constexpr (kWeighted)
      turn_block<false>(l < blocks ? in.importance + (in.phase + b) % in.period * kBlock : kZeros, l, tile.p);
  }
  if constexpr (kWeighted)
    for (std::size_t i = 0; i < kTile * kBlock; ++i) tile.pa[i] = tile.p[i] * tile.a[i];
}

struct Fits {
  alignas(64) float scale[kTile];
  alignas(64) float a[kTile];
  alignas(64) float b[kTile];
};

// Fills lanes [l, l + kLanes) of the fits.
template <bool kWeighted>
HWY_INLINE void best_fits(const Tile& tile, std::size_t l, const float* absmax, float qmax_number, const Search& search,
                          Fits& fits) {
  constexpr unsigned kAtOnce = kLanes == 16 ? 4 : 2;  // as many as the registers hold
  const V qmax = hn::Set(kFloat, qmax_number);
  const V most_abs = hn::LoadU(kFloat, absmax + l);
  const V inverse = hn::Div(qmax, hn::Max(most_abs, hn::Set(kFloat, kLeastAbsmax)));
  V most = hn::Zero(kFloat), scale = hn::Div(most_abs, qmax), a = hn::Zero(kFloat), b = hn::Zero(kFloat);
  const unsigned tries = tile.empty[l / kLanes] ? 0 : search.count;
  const float* const values = tile.a + l * kBlock;
  const float* const weighted = (kWeighted ? tile.pa : tile.a) + l * kBlock;
  const float* const weights = tile.p + l * kBlock;
  for (unsigned c = 0; c < tries; c += kAtOnce) {
    V v[kAtOnce], sum_a[kAtOnce], sum_b[kAtOnce];
    for (unsigned k = 0; k < kAtOnce; ++k) {
      v[k] = hn::Mul(inverse, hn::Set(kFloat, search.first + static_cast<float>(c + k) * search.step));
      sum_a[k] = sum_b[k] = hn::Zero(kFloat);
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      const V x = hn::Load(kFloat, values + i * kLanes);
      const V px = kWeighted ? hn::Load(kFloat, weighted + i * kLanes) : x;
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const V q = round(hn::Min(hn::Mul(x, v[k]), qmax));
        const V qq = hn::Mul(q, q);
        sum_a[k] = hn::Add(sum_a[k], hn::Mul(px, q));
        sum_b[k] = hn::Add(sum_b[k], kWeighted ? hn::Mul(hn::Load(kFloat, weights + i * kLanes), qq) : qq);
      }
    }
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const V fitted = hn::Div(sum_a[k], sum_b[k]);
      const V saved = hn::Mul(sum_a[k], fitted);
      const auto better = hn::Gt(saved, most);
      most = hn::IfThenElse(better, saved, most);
      scale = hn::IfThenElse(better, hn::Min(fitted, hn::Set(kFloat, kLargestScale)), scale);
      a = hn::IfThenElse(better, sum_a[k], a);
      b = hn::IfThenElse(better, sum_b[k], b);
    }
  }
  hn::Store(scale, kFloat, fits.scale + l);
  hn::Store(a, kFloat, fits.a + l);
  hn::Store(b, kFloat, fits.b + l);
}

// The losses of blocks [l, l + kLanes) with kCount scales each.
template <bool kWeighted, std::size_t kCount>
HWY_INLINE void losses(const Tile& tile, std::size_t l, float qmax_number, const V (&scale)[kCount], V (&sum)[kCount]) {
  const V qmax = hn::Set(kFloat, qmax_number), zero = hn::Zero(kFloat), one = hn::Set(kFloat, 1);
  const float* const values = tile.a + l * kBlock;
  const float* const weights = tile.p + l * kBlock;
  V v[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    v[k] = hn::IfThenElse(hn::Gt(scale[k], zero), hn::Div(one, scale[k]), zero);
    sum[k] = zero;
  }
  if (tile.empty[l / kLanes]) return;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const V x = hn::Load(kFloat, values + i * kLanes);
    for (std::size_t k = 0; k < kCount; ++k) {
      const V e = hn::Sub(x, hn::Mul(scale[k], round(hn::Min(hn::Mul(x, v[k]), qmax))));
      const V ee = hn::Mul(e, e);
      sum[k] = hn::Add(sum[k], kWeighted ? hn::Mul(hn::Load(kFloat, weights + i * kLanes), ee) : ee);
    }
  }
}

// The next smaller f16 of each scale; the scale itself if that need not be tried.
HWY_INLINE V lower_neighbours(V scale) {
  const auto small = hn::And(hn::Gt(scale, hn::Zero(kFloat)), hn::Le(scale, hn::Set(kFloat, kSmallScale)));
  return hn::Sub(scale, hn::IfThenElseZero(small, hn::Set(kFloat, kSmallStep)));
}

template <bool kWeighted>
void search_blocks(const Blocks& in, std::size_t first, std::size_t blocks, std::size_t at, Scales& s) {
  const auto qmax = static_cast<float>(in.method->qmax);
  const Search search = search_of(*in.method);
  Tile tile;
  turn<kWeighted>(in, first, blocks, s.absmax + at, tile);
  Fits fits;
  alignas(64) float searched[kTile];
  alignas(64) float better[kTile];
  std::uint16_t bits[kTile];
  for (std::size_t l = 0; l < kTile; l += kLanes) best_fits<kWeighted>(tile, l, s.absmax + at, qmax, search, fits);
  round_scales(fits.scale, kTile, searched, bits);
  bool some_lower = false;
  for (std::size_t l = 0; l < kTile; l += kLanes) {
    const V scale[2] = {hn::LoadU(kFloat, s.block + at + l), hn::Load(kFloat, searched + l)};
    V loss[2];
    losses<kWeighted>(tile, l, qmax, scale, loss);
    V best = scale[1], least = loss[1];
    const V lower[2] = {lower_neighbours(scale[1]), lower_neighbours(scale[0])};
    const auto same = hn::And(hn::Eq(lower[0], scale[1]), hn::Eq(lower[1], scale[0]));
    if (!hn::AllTrue(kFloat, same)) {
      some_lower = true;
      V found[2];
      losses<kWeighted>(tile, l, qmax, lower, found);
      for (std::size_t k = 0; k < 2; ++k) {
        best = hn::IfThenElse(hn::Lt(found[k], least), lower[k], best);
        least = hn::Min(found[k], least);
      }
    }
    const auto mask = hn::Lt(least, hn::Mul(hn::Set(kFloat, kBetter), loss[0]));
    hn::Store(best, kFloat, searched + l);
    hn::Store(hn::IfThenElse(mask, hn::Set(kFloat, 1), hn::Zero(kFloat)), kFloat, better + l);
  }
  if (some_lower) round_scales(searched, kTile, searched, bits);
  for (std::size_t l = 0; l < blocks; ++l) {
    if (better[l] == 0) continue;
    s.block[at + l] = searched[l];
    s.bits[at + l] = bits[l];
  }
}

HWY_INLINE V sub_scale(V s, V per_step) {
  return round(hn::Min(hn::Max(hn::Mul(s, per_step), hn::Set(kFloat, 1)), hn::Set(kFloat, 63)));
}

// The index of the super-scale (of 16) with which the fits of the 8 blocks from `b` on save most.
HWY_INLINE std::size_t best_super_scale(const Fits& fits, std::size_t b, const float* scales) {
  alignas(64) float saved[kSuperTries];
  for (std::size_t j = 0; j < kSuperTries; j += kLanes) {
    const V super = hn::Load(kFloat, scales + j);
    const V per_step = hn::Div(hn::Set(kFloat, 32), super);
    V sum = hn::Zero(kFloat);
    for (std::size_t k = b; k < b + kBlocksInSuper; ++k) {
      const V u = sub_scale(hn::Set(kFloat, fits.scale[k]), per_step);
      const V t = hn::Mul(super, hn::Mul(u, hn::Set(kFloat, 1.0f / 32)));
      const V fit = hn::Sub(hn::Set(kFloat, fits.a[k] + fits.a[k]), hn::Mul(t, hn::Set(kFloat, fits.b[k])));
      sum = hn::Add(sum, hn::Max(hn::Mul(t, fit), hn::Zero(kFloat)));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  std::size_t best = 0;
  float most = -1;
  for (std::size_t j = 0; j < kSuperTries; ++j) {
    if (saved[j] > most) {
      most = saved[j];
      best = j;
    }
  }
  return best;
}

// A super-scale for each of the tile's super-blocks, the best sub-scales for it, and their losses.
struct Choices {
  std::uint16_t bits[kTile / kBlocksInSuper] = {};
  alignas(64) float super[kTile] = {};  // per block
  alignas(64) float sub[kTile];
  alignas(64) float loss[kTile];
  alignas(64) float fast_loss[kTile];

  void set_super(std::size_t b, float scale, std::uint16_t scale_bits) {
    std::fill_n(super + b, kBlocksInSuper, scale);
    bits[b / kBlocksInSuper] = scale_bits;
  }
  static float sum_of(const float* losses, std::size_t b) {
    float sum = 0;
    for (std::size_t l = b; l < b + kBlocksInSuper; ++l) sum += losses[l];
    return sum;
  }
  float loss_of(std::size_t b) const { return sum_of(loss, b); }
};

void choose_super(const Fits& fits, std::size_t b, Choices& choices) {
  const float largest = *std::max_element(fits.scale + b, fits.scale + b + kBlocksInSuper);
  alignas(64) float scales[kSuperTries];
  std::uint16_t bits[kSuperTries];
  for (unsigned j = 0; j < kSuperTries; ++j) scales[j] = (32 * largest) / static_cast<float>(63 - j);
  round_scales(scales, kSuperTries, scales, bits);
  const std::size_t best = best_super_scale(fits, b, scales);
  choices.set_super(b, scales[best], bits[best]);
}

// Each block takes the sub-scale with the least loss of u and kReach on either side, the first of equals. `fast`: the
// scales to compare with.
template <bool kWeighted, int kReach>
void choose_subs(const Tile& tile, const Fits& fits, const float* absmax, const float* fast, float qmax,
                 Choices& choices) {
  constexpr std::size_t kCount = 2 * kReach + 1;
  const V one = hn::Set(kFloat, 1), highest = hn::Set(kFloat, 63);
  for (std::size_t l = 0; l < kTile; l += kLanes) {
    const V step = hn::Mul(hn::Load(kFloat, choices.super + l), hn::Set(kFloat, 1.0f / 32));
    V u[kCount] = {sub_scale(hn::Load(kFloat, fits.scale + l), hn::Div(one, step))};
    for (int k = 1; k < static_cast<int>(kCount); ++k) {
      const int away = k <= kReach ? k - kReach - 1 : k - kReach;
      u[k] = hn::Min(hn::Max(hn::Add(u[0], hn::Set(kFloat, static_cast<float>(away))), one), highest);
    }
    V scale[kCount + 1], found[kCount + 1];
    for (std::size_t k = 0; k < kCount; ++k) scale[k] = hn::Mul(step, u[k]);
    scale[kCount] = hn::LoadU(kFloat, fast + l);
    losses<kWeighted>(tile, l, qmax, scale, found);
    V best = u[0], least = found[0];
    for (std::size_t k = 1; k < kCount; ++k) {
      const auto better = hn::Lt(found[k], least);
      best = hn::IfThenElse(better, u[k], best);
      least = hn::IfThenElse(better, found[k], least);
    }
    const auto is_zero = hn::Eq(hn::LoadU(kFloat, absmax + l), hn::Zero(kFloat));
    hn::Store(hn::IfThenZeroElse(is_zero, best), kFloat, choices.sub + l);
    hn::Store(hn::IfThenZeroElse(is_zero, least), kFloat, choices.loss + l);
    hn::Store(found[kCount], kFloat, choices.fast_loss + l);
  }
}

constexpr std::size_t kSupers = kTile / kBlocksInSuper;

void take_choice(const Choices& choices, std::size_t b, std::size_t at, Scales& s) {
  s.bits[(at + b) / kBlocksInSuper] = choices.bits[b / kBlocksInSuper];
  for (std::size_t l = b; l < b + kBlocksInSuper; ++l) {
    s.sub[at + l] = static_cast<std::uint8_t>(choices.sub[l]);
    s.block[at + l] = choices.super[l] * (choices.sub[l] / 32);
  }
}

// For each super-block with `wanted`, takes the first normal f16 that loses no more than `most` as super-scale, and
// clears its `wanted`.
template <bool kWeighted>
void search_normal(const Tile& tile, const Fits& fits, float qmax, std::size_t at, const float* most, bool* wanted,
                   Scales& s) {
  Choices normal;
  bool open[kSupers], almost[kSupers] = {};
  std::copy_n(wanted, kSupers, open);
  const auto any_open = [&] { return std::find(open, open + kSupers, true) != open + kSupers; };
  const auto set_super = [&](std::uint16_t bits) {
    const float scale = static_cast<float>(bits) * 0x1p-24f;  // f16 steps are equal up to 2^-13
    for (std::size_t b = 0; b < kTile; b += kBlocksInSuper) normal.set_super(b, scale, bits);
  };
  const auto take_those_within = [&](bool first) {
    for (std::size_t i = 0; i < kSupers; ++i) {
      if (!open[i]) continue;
      const float lost = normal.loss_of(i * kBlocksInSuper);
      almost[i] = almost[i] || lost <= kAlmost * most[i];
      if (lost <= most[i]) {
        take_choice(normal, i * kBlocksInSuper, at, s);
        wanted[i] = open[i] = false;
      } else if (first && lost > kHopeless * most[i]) {
        open[i] = false;
      }
    }
  };
  for (unsigned j = 0; j < kNormalTries && any_open(); ++j) {
    set_super(static_cast<std::uint16_t>(kLeastNormal + j * kNormalStep));
    choose_subs<kWeighted, kNormalReach>(tile, fits, s.absmax + at, s.block + at, qmax, normal);
    take_those_within(j == 0);
  }
  for (std::size_t i = 0; i < kSupers; ++i) open[i] = open[i] && almost[i];
  for (unsigned j = 0; j < kCloseTries && any_open(); ++j) {
    set_super(close_normal(j));
    choose_subs<kWeighted, kCloseReach>(tile, fits, s.absmax + at, s.block + at, qmax, normal);
    take_those_within(false);
  }
}

template <bool kWeighted>
void search_supers(const Blocks& in, std::size_t first, std::size_t blocks, std::size_t at, Scales& s) {
  const auto qmax = static_cast<float>(in.method->qmax);
  const Search search = search_of(*in.method);
  Tile tile;
  turn<kWeighted>(in, first, blocks, s.absmax + at, tile);
  Fits fits;
  for (std::size_t l = 0; l < kTile; l += kLanes) best_fits<kWeighted>(tile, l, s.absmax + at, qmax, search, fits);

  Choices searched;
  for (std::size_t b = 0; b < blocks; b += kBlocksInSuper) choose_super(fits, b, searched);
  choose_subs<kWeighted, 1>(tile, fits, s.absmax + at, s.block + at, qmax, searched);
  float most[kSupers] = {};
  bool small[kSupers] = {}, take[kSupers] = {};
  for (std::size_t i = 0; i * kBlocksInSuper < blocks; ++i) {
    const std::size_t b = i * kBlocksInSuper;
    const std::uint16_t fast_bits = s.bits[(at + b) / kBlocksInSuper];
    if (fast_bits == 0) continue;  // all weights are zero
    const float found = searched.loss_of(b), fast = Choices::sum_of(searched.fast_loss, b);
    take[i] = found < kBetter * fast;
    small[i] = !is_normal_f16(searched.bits[i]);
    if (!small[i]) continue;
    const Normal allowed = normal_allowance(found, fast, is_normal_f16(fast_bits));
    most[i] = allowed.most;
    take[i] = take[i] && !allowed.fast;
  }
  bool wanted[kSupers];
  std::copy_n(small, kSupers, wanted);
  if (std::find(small, small + kSupers, true) != small + kSupers)
    search_normal<kWeighted>(tile, fits, qmax, at, most, wanted, s);
  for (std::size_t i = 0; i < kSupers; ++i)
    if (take[i] && small[i] == wanted[i]) take_choice(searched, i * kBlocksInSuper, at, s);
}

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
