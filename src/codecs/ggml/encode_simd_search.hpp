// The search for scales of types without a minimum that encode.hpp describes. Included once per SIMD target.
#if defined(TARE_GGML_ENCODE_SIMD_SEARCH_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_GGML_ENCODE_SIMD_SEARCH_HPP
#undef TARE_GGML_ENCODE_SIMD_SEARCH_HPP
#else
#define TARE_GGML_ENCODE_SIMD_SEARCH_HPP
#endif

#include <bit>

#include "codecs/ggml/encode_simd_tile.hpp"

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

struct Fits {
  alignas(64) float extreme[kParts];
  alignas(64) float scale[kParts];
  alignas(64) float a[kParts];
  alignas(64) float b[kParts];
};

void find_extremes(const Spec& spec, const Tile& tile, Fits& fits) {
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V extreme = hn::Zero(kFloat);
    for (std::size_t i = 0; i < tile.part; ++i) {
      const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
      extreme = hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Abs(extreme)), x, extreme);
    }
    if (spec.magnitude) extreme = hn::Abs(extreme);
    hn::Store(extreme, kFloat, fits.extreme + l);
    // Adding 0 turns -0 into 0, so that a part of zeros has the scale 0.
    hn::Store(hn::Add(hn::Div(extreme, hn::Set(kFloat, spec.fast)), hn::Zero(kFloat)), kFloat, fits.scale + l);
  }
}

// The same without a transposed tile, which the fast path does not need otherwise.
void find_extremes_at(const Spec& spec, const float* weights, Fits& fits) {
  for (std::size_t l = 0; l < kParts; ++l, weights += spec.part) {
    V most = hn::Zero(kFloat);
    for (std::size_t i = 0; i < spec.part; i += kLanes) most = hn::Max(most, hn::Abs(hn::LoadU(kFloat, weights + i)));
    float extreme = hn::GetLane(hn::MaxOfLanes(kFloat, most));
    if (!spec.magnitude) {
      const V magnitude = hn::Set(kFloat, extreme);
      for (std::size_t i = 0; i < spec.part; i += kLanes) {
        const auto place = hn::FindFirstTrue(kFloat, hn::Eq(hn::Abs(hn::LoadU(kFloat, weights + i)), magnitude));
        if (place < 0) continue;
        extreme = weights[i + static_cast<std::size_t>(place)];
        break;
      }
    }
    fits.extreme[l] = extreme;
  }
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V scale = hn::Div(hn::Load(kFloat, fits.extreme + l), hn::Set(kFloat, spec.fast));
    hn::Store(hn::Add(scale, hn::Zero(kFloat)), kFloat, fits.scale + l);  // turns -0 into 0
  }
}

// Replaces the scales of `fast` by better ones. Without kCut, no step maps a weight beyond the codes.
template <bool kWeighted, Grid kGrid, bool kCut>
void fit_scales(const Spec& spec, const Tile& tile, Fits& fits) {
  const V lowest = hn::Set(kFloat, spec.lowest), highest = hn::Set(kFloat, spec.highest), zero = hn::Zero(kFloat);
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V extreme = hn::Load(kFloat, fits.extreme + l);
    const auto large = hn::Ge(hn::Abs(extreme), hn::Set(kFloat, kLeastExtreme));
    const V unit = hn::IfThenElseZero(large, hn::Div(hn::Set(kFloat, 1), extreme));
    V most = zero, scale = hn::Load(kFloat, fits.scale + l), a = zero, b = zero;
    for (std::size_t c = 0; c < spec.steps.size(); c += kAtOnce) {
      V v[kAtOnce], sum_a[kAtOnce], sum_b[kAtOnce];
      for (unsigned k = 0; k < kAtOnce; ++k) {
        v[k] = hn::Mul(unit, hn::Set(kFloat, spec.steps[c + k]));
        sum_a[k] = sum_b[k] = zero;
      }
      for (std::size_t i = 0; i < tile.part; ++i) {
        const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
        const V p = kWeighted ? hn::Load(kFloat, tile.weights(l) + i * kLanes) : zero;
        const V px = kWeighted ? hn::Mul(p, x) : x;
        for (unsigned k = 0; k < kAtOnce; ++k) {
          const V y = hn::Mul(x, v[k]);
          const V q = kCut ? nearest<kGrid>(y, lowest, highest) : round(y);
          const V qq = hn::Mul(q, q);
          sum_a[k] = hn::Add(sum_a[k], hn::Mul(px, q));
          sum_b[k] = hn::Add(sum_b[k], kWeighted ? hn::Mul(p, qq) : qq);
        }
      }
      for (unsigned k = 0; k < kAtOnce; ++k) {
        // NaN if all codes are 0; it compares as not better.
        const V fitted = hn::Div(sum_a[k], sum_b[k]);
        const V saved = hn::Mul(sum_a[k], fitted);
        const auto better = hn::Gt(saved, most);
        most = hn::IfThenElse(better, saved, most);
        scale = hn::IfThenElse(better, fitted, scale);
        a = hn::IfThenElse(better, sum_a[k], a);
        b = hn::IfThenElse(better, sum_b[k], b);
      }
    }
    hn::Store(scale, kFloat, fits.scale + l);
    hn::Store(a, kFloat, fits.a + l);
    hn::Store(b, kFloat, fits.b + l);
  }
}

// The loss of parts [l, l + kLanes) for each of kCount scales.
template <bool kWeighted, Grid kGrid, std::size_t kCount>
HWY_INLINE void losses(const Spec& spec, const Tile& tile, std::size_t l, const V (&scale)[kCount], V (&sum)[kCount]) {
  const V lowest = hn::Set(kFloat, spec.lowest), highest = hn::Set(kFloat, spec.highest);
  V v[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    v[k] = inverse(scale[k]);
    sum[k] = hn::Zero(kFloat);
  }
  for (std::size_t i = 0; i < tile.part; ++i) {
    const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
    for (std::size_t k = 0; k < kCount; ++k) {
      const V off = hn::Sub(x, hn::Mul(scale[k], nearest<kGrid>(hn::Mul(x, v[k]), lowest, highest)));
      const V square = hn::Mul(off, off);
      sum[k] = hn::Add(sum[k], kWeighted ? hn::Mul(hn::Load(kFloat, tile.weights(l) + i * kLanes), square) : square);
    }
  }
}

// The choice with the least loss, the first of equals.
template <std::size_t kCount>
HWY_INLINE V least_of(const V (&choices)[kCount], const V (&sums)[kCount]) {
  V best = choices[0], least = sums[0];
  for (std::size_t k = 1; k < kCount; ++k) {
    const auto better = hn::Lt(sums[k], least);
    best = hn::IfThenElse(better, choices[k], best);
    least = hn::IfThenElse(better, sums[k], least);
  }
  return best;
}

// --- blocks of one part

template <bool kWeighted, Grid kGrid>
void choose_scales(const Spec& spec, const Tile& tile, bool fast, Fits& fits, Chosen& chosen, CodedParts& out) {
  to_halves(fits.scale, Rounding::up, chosen.scale, out.scale.data());
  for (std::size_t l = 0; l < kParts && out.fitting == kParts; ++l)
    if (is_infinite(out.scale[l])) out.fitting = l;
  if (fast || out.fitting != kParts) return;
  if (kGrid == Grid::linear && !spec.cuts)
    fit_scales<kWeighted, Grid::linear, false>(spec, tile, fits);
  else
    fit_scales<kWeighted, kGrid, true>(spec, tile, fits);
  clamp_scales(fits.scale);
  alignas(64) float fitted[kParts];
  std::array<std::uint16_t, kParts> bits;
  to_halves(fits.scale, Rounding::nearest, fitted, bits.data());
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V scale[2] = {hn::Load(kFloat, chosen.scale + l), hn::Load(kFloat, fitted + l)};
    const auto small = hn::Lt(hn::Abs(scale[1]), hn::Set(kFloat, 0x1p-14f));
    V best = scale[1];
    if (!hn::AllFalse(kFloat, small)) {
      V sum[2];
      losses<kWeighted, kGrid>(spec, tile, l, scale, sum);
      best = hn::IfThenElse(small, least_of(scale, sum), best);
    }
    hn::Store(best, kFloat, chosen.scale + l);
  }
  for (std::size_t l = 0; l < kParts; ++l)
    if (chosen.scale[l] == fitted[l]) out.scale[l] = bits[l];
}

// MXFP4: the scale is a power of two.
template <bool kWeighted>
void choose_exponents(const Spec& spec, const Tile& tile, bool fast, Fits& fits, Chosen& chosen, CodedParts& out) {
  alignas(64) float tries[3][kParts];
  alignas(64) float exponents[3][kParts];
  for (std::size_t l = 0; l < kParts; ++l) {
    const int biased = static_cast<int>(std::bit_cast<std::uint32_t>(std::fabs(fits.extreme[l])) >> 23);
    for (int k = 0; k < 3; ++k) {
      const int e = std::max(biased - 2 + (k == 0 ? 0 : 2 * k - 3), 0);
      exponents[k][l] = static_cast<float>(e);
      tries[k][l] = e == 0 ? 0x1p-127f : std::bit_cast<float>(static_cast<std::uint32_t>(e) << 23);
    }
  }
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V exponent[3], scale[3], sum[3];
    for (std::size_t k = 0; k < 3; ++k) {
      exponent[k] = hn::Load(kFloat, exponents[k] + l);
      scale[k] = hn::Load(kFloat, tries[k] + l);
    }
    if (!fast) {
      losses<kWeighted, Grid::floats>(spec, tile, l, scale, sum);
      exponent[0] = least_of(exponent, sum);
      scale[0] = least_of(scale, sum);
    }
    hn::Store(exponent[0], kFloat, exponents[0] + l);
    hn::Store(scale[0], kFloat, chosen.scale + l);
  }
  for (std::size_t l = 0; l < kParts; ++l) out.sub_scale[l] = static_cast<std::uint8_t>(exponents[0][l]);
}

// NVFP4: the scale is an 8-bit float.
template <bool kWeighted>
void choose_small_floats(const Spec& spec, const Tile& tile, bool fast, Fits& fits, Chosen& chosen, CodedParts& out) {
  constexpr std::size_t kTries = 10;
  constexpr unsigned kHighest = 126;
  alignas(64) static const auto kValues = [] {
    std::array<float, kHighest + 1> values;
    for (unsigned code = 0; code <= kHighest; ++code) values[code] = ue4m3(code);
    return values;
  }();
  alignas(64) float tries[kTries][kParts];
  alignas(64) float codes[kTries][kParts];
  for (std::size_t l = 0; l < kParts; ++l) {
    const float wanted = std::fabs(fits.extreme[l]) / 6;
    if (wanted > kValues[kHighest]) {
      out.fitting = l / spec.super * spec.super;
      return;
    }
    const int first = static_cast<int>(std::ranges::lower_bound(kValues, wanted) - kValues.begin());
    for (int k = 0; k < static_cast<int>(kTries); ++k) {
      const int code = k == 0 ? first : k == 9 ? 0 : first + (k < 4 ? -k : k - 3);
      const auto clamped = static_cast<unsigned>(std::clamp(code, 0, static_cast<int>(kHighest)));
      codes[k][l] = static_cast<float>(clamped);
      tries[k][l] = kValues[clamped];
    }
  }
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V code[kTries], scale[kTries], sum[kTries];
    for (std::size_t k = 0; k < kTries; ++k) {
      code[k] = hn::Load(kFloat, codes[k] + l);
      scale[k] = hn::Load(kFloat, tries[k] + l);
    }
    if (!fast) {
      losses<kWeighted, Grid::floats>(spec, tile, l, scale, sum);
      code[0] = least_of(code, sum);
      scale[0] = least_of(scale, sum);
    }
    hn::Store(code[0], kFloat, codes[0] + l);
    hn::Store(scale[0], kFloat, chosen.scale + l);
  }
  for (std::size_t l = 0; l < kParts; ++l) out.sub_scale[l] = static_cast<std::uint8_t>(codes[0][l]);
}

// --- several parts with one scale

// The sums A and B of all parts for the codes of each of four scales 1 / v.
template <bool kWeighted, Grid kGrid>
HWY_INLINE void joined_sums(const Spec& spec, const Tile& tile, const float (*inverses)[kParts], float (*a)[kParts],
                            float (*b)[kParts]) {
  const V lowest = hn::Set(kFloat, spec.lowest), highest = hn::Set(kFloat, spec.highest), zero = hn::Zero(kFloat);
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V v[4], sum_a[4], sum_b[4];
    for (unsigned k = 0; k < 4; ++k) {
      v[k] = hn::Load(kFloat, inverses[k] + l);
      sum_a[k] = sum_b[k] = zero;
    }
    for (std::size_t i = 0; i < tile.part; ++i) {
      const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
      const V p = kWeighted ? hn::Load(kFloat, tile.weights(l) + i * kLanes) : zero;
      const V px = kWeighted ? hn::Mul(p, x) : x;
      for (unsigned k = 0; k < 4; ++k) {
        const V q = nearest<kGrid>(hn::Mul(x, v[k]), lowest, highest);
        const V qq = hn::Mul(q, q);
        sum_a[k] = hn::Add(sum_a[k], hn::Mul(px, q));
        sum_b[k] = hn::Add(sum_b[k], kWeighted ? hn::Mul(p, qq) : qq);
      }
    }
    for (unsigned k = 0; k < 4; ++k) {
      hn::Store(sum_a[k], kFloat, a[k] + l);
      hn::Store(sum_b[k], kFloat, b[k] + l);
    }
  }
}

template <bool kWeighted, Grid kGrid>
void choose_joined_scales(const Spec& spec, const Tile& tile, bool fast, Fits& fits, Chosen& chosen, CodedParts& out) {
  alignas(64) float scales[kParts] = {};
  std::array<std::uint16_t, kParts> bits;
  const std::size_t blocks = kParts / spec.super;
  float extremes[kParts];
  for (std::size_t n = 0; n < blocks; ++n) {
    extremes[n] = fits.extreme[n * spec.super];
    for (std::size_t l = n * spec.super; l < (n + 1) * spec.super; ++l)
      if (std::fabs(fits.extreme[l]) > std::fabs(extremes[n])) extremes[n] = fits.extreme[l];
    scales[n] = extremes[n] / spec.fast + 0.0f;  // turns -0 into 0
  }
  to_halves(scales, Rounding::up, scales, out.scale.data());
  for (std::size_t n = 0; n < blocks && out.fitting == kParts; ++n)
    if (is_infinite(out.scale[n])) out.fitting = n * spec.super;
  if (out.fitting != kParts) return;
  if (!fast || kGrid == Grid::signs) {
    alignas(64) float inverses[4][kParts];
    alignas(64) float a[4][kParts];
    alignas(64) float b[4][kParts];
    float most[kParts] = {}, best[kParts] = {}, best_a[kParts] = {}, best_b[kParts] = {};
    const auto try_four = [&] {
      joined_sums<kWeighted, kGrid>(spec, tile, inverses, a, b);
      for (std::size_t n = 0; n < blocks; ++n)
        for (unsigned k = 0; k < 4; ++k) {
          float sum_a = 0, sum_b = 0;
          for (std::size_t l = n * spec.super; l < (n + 1) * spec.super; ++l) {
            sum_a += a[k][l];
            sum_b += b[k][l];
          }
          // NaN if all codes are 0; it compares as not better.
          const float fitted = sum_a / sum_b, saved = sum_a * fitted;
          if (!(saved > most[n])) continue;
          most[n] = saved;
          best[n] = fitted;
          best_a[n] = sum_a;
          best_b[n] = sum_b;
        }
    };
    const auto inverse_of = [](float scale) { return std::fabs(scale) >= kLeastExtreme ? 1 / scale : 0.0f; };
    for (std::size_t c = 0; c < std::max<std::size_t>(spec.steps.size(), 1); c += 4) {
      for (unsigned k = 0; k < 4; ++k)
        for (std::size_t l = 0; l < kParts; ++l)
          inverses[k][l] = inverse_of(extremes[l / spec.super]) * (spec.steps.empty() ? 1 : spec.steps[c + k]);
      try_four();
    }
    for (std::size_t c = 0; c < spec.again.size(); c += 4) {
      for (unsigned k = 0; k < 4; ++k)
        for (std::size_t l = 0; l < kParts; ++l) inverses[k][l] = inverse_of(best[l / spec.super]) * spec.again[c + k];
      try_four();
    }
    clamp_scales(best);
    alignas(64) float fitted[kParts];
    to_halves(best, Rounding::nearest, fitted, bits.data());
    // Rounding a subnormal may cost more than the fit saves.
    for (std::size_t n = 0; n < blocks; ++n)
      if (fitted[n] * ((best_a[n] + best_a[n]) - fitted[n] * best_b[n]) > 0) {
        scales[n] = fitted[n];
        out.scale[n] = bits[n];
      }
  }
  for (std::size_t l = 0; l < kParts; ++l) chosen.scale[l] = scales[l / spec.super];
}

// --- blocks of several parts

HWY_INLINE V sub_scale(const Spec& spec, V scale, V per_step) {
  return nearest<Grid::linear>(hn::Mul(scale, per_step), hn::Set(kFloat, spec.sub_lowest),
                               hn::Set(kFloat, spec.sub_highest));
}

// The scale with the largest magnitude among the parts of a block.
HWY_INLINE float largest_scale(const Spec& spec, const float* scales) {
  return *std::max_element(scales, scales + spec.super, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

// The index of the D that saves most for the parts from `first` on. Each lane tries one D.
HWY_INLINE std::size_t best_divisor(const Spec& spec, const Fits& fits, std::size_t first, const float* tries) {
  alignas(64) float saved[kDivisors];
  for (std::size_t j = 0; j < kDivisors; j += kLanes) {
    const V d = hn::Load(kFloat, tries + j), per_step = inverse(d);
    V sum = hn::Zero(kFloat);
    for (std::size_t l = first; l < first + spec.super; ++l) {
      const V t = hn::Mul(d, sub_scale(spec, hn::Set(kFloat, fits.scale[l]), per_step));
      const V rest = hn::Sub(hn::Set(kFloat, fits.a[l] + fits.a[l]), hn::Mul(t, hn::Set(kFloat, fits.b[l])));
      sum = hn::Add(sum, hn::Max(hn::Mul(t, rest), hn::Zero(kFloat)));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  return index_of_most(saved);
}

template <bool kWeighted, Grid kGrid>
void choose_super_scales(const Spec& spec, const Tile& tile, bool fast, Fits& fits, Chosen& chosen, CodedParts& out) {
  alignas(64) float tries[kDivisors];
  alignas(64) float supers[kParts];
  std::array<std::uint16_t, kDivisors> bits;
  for (std::size_t first = 0; first < kParts; first += spec.super) {
    // Adding 0 turns -0 into 0.
    std::fill_n(tries, kDivisors, largest_scale(spec, fits.scale + first) / spec.divisors[0] + 0.0f);
    to_halves(tries, Rounding::up, tries, bits.data());
    if (is_infinite(bits[0])) {
      out.fitting = first;
      return;
    }
    std::fill_n(supers + first, spec.super, tries[0]);
    out.scale[first / spec.super] = bits[0];
  }
  if (!fast) {
    fit_scales<kWeighted, kGrid, true>(spec, tile, fits);
    for (std::size_t first = 0; first < kParts; first += spec.super) {
      const float largest = largest_scale(spec, fits.scale + first);
      for (std::size_t j = 0; j < kDivisors; ++j) tries[j] = largest / spec.divisors[j] + 0.0f;
      clamp_scales(tries);
      to_halves(tries, Rounding::nearest, tries, bits.data());
      const std::size_t best = best_divisor(spec, fits, first, tries);
      std::fill_n(supers + first, spec.super, tries[best]);
      out.scale[first / spec.super] = bits[best];
    }
  }
  alignas(64) float subs[kParts];
  const V lowest = hn::Set(kFloat, spec.sub_lowest), highest = hn::Set(kFloat, spec.sub_highest);
  const V one = hn::Set(kFloat, 1);
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V d = hn::Load(kFloat, supers + l);
    V u[3] = {sub_scale(spec, hn::Load(kFloat, fits.scale + l), inverse(d))};
    if (!fast) {
      u[1] = clamp(hn::Sub(u[0], one), lowest, highest);
      u[2] = clamp(hn::Add(u[0], one), lowest, highest);
      const V scale[3] = {hn::Mul(d, u[0]), hn::Mul(d, u[1]), hn::Mul(d, u[2])};
      V sum[3];
      losses<kWeighted, kGrid>(spec, tile, l, scale, sum);
      u[0] = least_of(u, sum);
    }
    hn::Store(u[0], kFloat, subs + l);
    hn::Store(hn::Mul(d, u[0]), kFloat, chosen.scale + l);
  }
  for (std::size_t l = 0; l < kParts; ++l) out.sub_scale[l] = static_cast<std::uint8_t>(static_cast<int>(subs[l]));
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
