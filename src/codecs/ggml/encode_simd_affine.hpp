// The search for scales and minimums that encode.hpp describes. Included once per SIMD target.
#if defined(TARE_GGML_ENCODE_SIMD_AFFINE_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_GGML_ENCODE_SIMD_AFFINE_HPP
#undef TARE_GGML_ENCODE_SIMD_AFFINE_HPP
#else
#define TARE_GGML_ENCODE_SIMD_AFFINE_HPP
#endif

#include "codecs/ggml/encode_simd_search.hpp"

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

// Per part: the range, the fit (d, m), and the sums over its codes c of p, p y, p c, p c c, p y c.
struct Lines {
  alignas(64) float low[kParts];
  alignas(64) float range[kParts];
  alignas(64) float mid[kParts];
  alignas(64) float scale[kParts];
  alignas(64) float minimum[kParts];
  alignas(64) float p[kParts];
  alignas(64) float y[kParts];
  alignas(64) float c[kParts];
  alignas(64) float cc[kParts];
  alignas(64) float yc[kParts];
};

// The same for a vector of parts.
struct LineSums {
  V mid, half, p, y, c, cc, yc;
  bool below_zero;  // m must not be positive
};

struct Line {
  V scale, offset, minimum;  // d, n, m
};

HWY_INLINE V offset_of_zero(const LineSums& sums, V scale) { return hn::Sub(hn::Mul(scale, sums.half), sums.mid); }

// The best minimum for a scale.
HWY_INLINE Line best_line(const LineSums& sums, V scale) {
  const V offset = hn::Mul(hn::Sub(sums.y, hn::Mul(scale, sums.c)), inverse(sums.p));
  const V minimum = hn::Sub(hn::Add(offset, sums.mid), hn::Mul(scale, sums.half));
  if (!sums.below_zero) return {scale, offset, minimum};
  const auto above = hn::Gt(minimum, hn::Zero(kFloat));
  return {scale, hn::IfThenElse(above, offset_of_zero(sums, scale), offset), hn::IfThenZeroElse(above, minimum)};
}

// How much d and n save compared to d = n = 0.
HWY_INLINE V saved_by(const LineSums& sums, V scale, V offset) {
  const V by_scale = hn::Mul(scale, hn::Sub(hn::Add(sums.yc, sums.yc), hn::Mul(scale, sums.cc)));
  const V by_offset = hn::Mul(offset, hn::Sub(hn::Add(sums.y, sums.y), hn::Mul(offset, sums.p)));
  return hn::Sub(hn::Add(by_scale, by_offset), hn::Mul(hn::Add(scale, scale), hn::Mul(offset, sums.c)));
}

// Fits scale and minimum by least squares.
HWY_INLINE Line fit_line(const LineSums& sums) {
  const V det = hn::Sub(hn::Mul(sums.p, sums.cc), hn::Mul(sums.c, sums.c));
  const V scale = hn::Div(hn::Sub(hn::Mul(sums.p, sums.yc), hn::Mul(sums.y, sums.c)), det);
  Line line = best_line(sums, scale);
  if (!sums.below_zero) return line;
  // With m = 0: the sums of p x q and p q q.
  const V xq = hn::Add(hn::Add(sums.yc, hn::Mul(sums.half, sums.y)),
                       hn::Mul(sums.mid, hn::Add(sums.c, hn::Mul(sums.half, sums.p))));
  const V qq = hn::Add(sums.cc, hn::Mul(sums.half, hn::Add(hn::Add(sums.c, sums.c), hn::Mul(sums.half, sums.p))));
  const V through_zero = hn::Div(xq, qq);
  const auto at_zero = hn::Ge(line.minimum, hn::Zero(kFloat));
  line.scale = hn::IfThenElse(at_zero, through_zero, line.scale);
  line.offset = hn::IfThenElse(at_zero, offset_of_zero(sums, line.scale), line.offset);
  return line;
}

// Finds the ranges, and the scales and minimums of `fast`.
void find_ranges(const Spec& spec, const Tile& tile, Lines& lines) {
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    V low = hn::Load(kFloat, tile.values(l)), high = low;
    for (std::size_t i = 1; i < tile.part; ++i) {
      const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
      low = hn::Min(low, x);
      high = hn::Max(high, x);
    }
    if (spec.super != 0) low = hn::Min(low, hn::Zero(kFloat));
    const V range = hn::Sub(high, low);
    hn::Store(low, kFloat, lines.low + l);
    hn::Store(range, kFloat, lines.range + l);
    hn::Store(hn::Mul(hn::Add(low, high), hn::Set(kFloat, 0.5f)), kFloat, lines.mid + l);
    hn::Store(hn::Div(range, hn::Set(kFloat, spec.highest)), kFloat, lines.scale + l);
    hn::Store(low, kFloat, lines.minimum + l);
  }
}

HWY_INLINE LineSums line_sums(const Spec& spec, const Lines& lines, std::size_t l) {
  return {hn::Load(kFloat, lines.mid + l), hn::Set(kFloat, spec.highest / 2),
          hn::Load(kFloat, lines.p + l),   hn::Load(kFloat, lines.y + l),
          hn::Load(kFloat, lines.c + l),   hn::Load(kFloat, lines.cc + l),
          hn::Load(kFloat, lines.yc + l),  spec.super != 0};
}

// The sums of one part in all lanes.
HWY_INLINE LineSums one_line(const Spec& spec, const Lines& lines, std::size_t l) {
  return {hn::Set(kFloat, lines.mid[l]), hn::Set(kFloat, spec.highest / 2),
          hn::Set(kFloat, lines.p[l]),   hn::Set(kFloat, lines.y[l]),
          hn::Set(kFloat, lines.c[l]),   hn::Set(kFloat, lines.cc[l]),
          hn::Set(kFloat, lines.yc[l]),  spec.super != 0};
}

template <bool kWeighted>
void fit_lines(const Spec& spec, const Tile& tile, Lines& lines) {
  const V zero = hn::Zero(kFloat), highest = hn::Set(kFloat, spec.highest), half = hn::Set(kFloat, spec.highest / 2);
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V range = hn::Load(kFloat, lines.range + l), mid = hn::Load(kFloat, lines.mid + l);
    const auto wide = hn::Ge(range, hn::Set(kFloat, kLeastExtreme));
    const V unit = hn::IfThenElseZero(wide, hn::Div(highest, range));
    LineSums best = {mid, half, zero, zero, zero, zero, zero, spec.super != 0};
    for (std::size_t i = 0; i < tile.part; ++i) {
      const V y = hn::Sub(hn::Load(kFloat, tile.values(l) + i * kLanes), mid);
      const V p = kWeighted ? hn::Load(kFloat, tile.weights(l) + i * kLanes) : hn::Set(kFloat, 1);
      best.p = hn::Add(best.p, p);
      best.y = hn::Add(best.y, hn::Mul(p, y));
    }
    V most = zero, scale = hn::Load(kFloat, lines.scale + l);
    for (std::size_t t = 0; t < spec.trims.size(); t += kAtOnce) {
      V v[kAtOnce], o[kAtOnce], c[kAtOnce], cc[kAtOnce], yc[kAtOnce];
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const Trim& trim = spec.trims[t + k];
        v[k] = hn::Mul(unit, hn::Set(kFloat, trim.factor));
        o[k] = hn::Mul(hn::Mul(hn::Set(kFloat, 0.5f - trim.low), range), v[k]);
        c[k] = cc[k] = yc[k] = zero;
      }
      for (std::size_t i = 0; i < tile.part; ++i) {
        const V y = hn::Sub(hn::Load(kFloat, tile.values(l) + i * kLanes), mid);
        const V p = kWeighted ? hn::Load(kFloat, tile.weights(l) + i * kLanes) : zero;
        for (unsigned k = 0; k < kAtOnce; ++k) {
          const V q = nearest<Grid::affine>(hn::Add(hn::Mul(y, v[k]), o[k]), zero, highest);
          const V centred = hn::Sub(q, half);
          const V pc = kWeighted ? hn::Mul(p, centred) : centred;
          c[k] = hn::Add(c[k], pc);
          cc[k] = hn::Add(cc[k], hn::Mul(pc, centred));
          yc[k] = hn::Add(yc[k], hn::Mul(pc, y));
        }
      }
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const LineSums sums = {mid, half, best.p, best.y, c[k], cc[k], yc[k], spec.super != 0};
        const Line line = fit_line(sums);
        const V saved = saved_by(sums, line.scale, line.offset);
        // Comparisons with NaN are false, so a NaN never wins.
        const auto sound = hn::And(hn::Gt(line.scale, zero), hn::Le(line.scale, range));
        const auto better = hn::And(sound, hn::Gt(saved, most));
        most = hn::IfThenElse(better, saved, most);
        scale = hn::IfThenElse(better, line.scale, scale);
        best.c = hn::IfThenElse(better, c[k], best.c);
        best.cc = hn::IfThenElse(better, cc[k], best.cc);
        best.yc = hn::IfThenElse(better, yc[k], best.yc);
      }
    }
    // Without a fit, all sums are 0, from which best_line returns the minimum of `fast`.
    const auto none = hn::Eq(most, zero);
    hn::Store(hn::IfThenZeroElse(none, best.p), kFloat, lines.p + l);
    hn::Store(hn::IfThenZeroElse(none, best.y), kFloat, lines.y + l);
    hn::Store(best.c, kFloat, lines.c + l);
    hn::Store(best.cc, kFloat, lines.cc + l);
    hn::Store(best.yc, kFloat, lines.yc + l);
    hn::Store(scale, kFloat, lines.scale + l);
  }
}

// The loss of parts [l, l + kLanes) for each of kCount pairs of scale and minimum.
template <bool kWeighted, std::size_t kCount>
HWY_INLINE void line_losses(const Spec& spec, const Tile& tile, std::size_t l, const V (&scale)[kCount],
                            const V (&minimum)[kCount], V (&sum)[kCount]) {
  const V zero = hn::Zero(kFloat), highest = hn::Set(kFloat, spec.highest);
  V v[kCount];
  for (std::size_t k = 0; k < kCount; ++k) {
    v[k] = inverse(scale[k]);
    sum[k] = zero;
  }
  for (std::size_t i = 0; i < tile.part; ++i) {
    const V x = hn::Load(kFloat, tile.values(l) + i * kLanes);
    for (std::size_t k = 0; k < kCount; ++k) {
      const V q = nearest<Grid::affine>(hn::Mul(hn::Sub(x, minimum[k]), v[k]), zero, highest);
      const V off = hn::Sub(x, hn::Add(hn::Mul(scale[k], q), minimum[k]));
      const V square = hn::Mul(off, off);
      sum[k] = hn::Add(sum[k], kWeighted ? hn::Mul(hn::Load(kFloat, tile.weights(l) + i * kLanes), square) : square);
    }
  }
}

// --- blocks of one part

template <bool kWeighted>
void choose_lines(const Spec& spec, const Tile& tile, bool fast, Lines& lines, Chosen& chosen, CodedParts& out) {
  to_halves(lines.scale, Rounding::up, chosen.scale, out.scale.data());
  to_halves(lines.minimum, Rounding::nearest, chosen.minimum, out.minimum.data());
  for (std::size_t l = 0; l < kParts && out.fitting == kParts; ++l)
    if (is_infinite(out.scale[l]) || is_infinite(out.minimum[l])) out.fitting = l;
  if (fast || out.fitting != kParts) return;
  fit_lines<kWeighted>(spec, tile, lines);
  alignas(64) float scales[kParts];
  alignas(64) float minimums[kParts];
  std::array<std::uint16_t, kParts> scale_bits, minimum_bits;
  clamp_scales(lines.scale);
  to_halves(lines.scale, Rounding::nearest, scales, scale_bits.data());
  for (std::size_t l = 0; l < kParts; l += kLanes)
    hn::Store(best_line(line_sums(spec, lines, l), hn::Load(kFloat, scales + l)).minimum, kFloat, minimums + l);
  clamp_scales(minimums);
  to_halves(minimums, Rounding::nearest, minimums, minimum_bits.data());
  alignas(64) float fitted[kParts];
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V scale[2] = {hn::Load(kFloat, chosen.scale + l), hn::Load(kFloat, scales + l)};
    const V minimum[2] = {hn::Load(kFloat, chosen.minimum + l), hn::Load(kFloat, minimums + l)};
    V sum[2];
    line_losses<kWeighted>(spec, tile, l, scale, minimum, sum);
    const V which[2] = {hn::Zero(kFloat), hn::Set(kFloat, 1)};
    hn::Store(least_of(which, sum), kFloat, fitted + l);
  }
  for (std::size_t l = 0; l < kParts; ++l) {
    if (fitted[l] == 0) continue;
    chosen.scale[l] = scales[l];
    chosen.minimum[l] = minimums[l];
    out.scale[l] = scale_bits[l];
    out.minimum[l] = minimum_bits[l];
  }
}

// --- blocks of several parts

// The D or M of each part's block.
struct Supers {
  alignas(64) float value[kParts];
};

// The 16 candidates for D (or M) of a block with this largest scale (or minimum).
struct Tries {
  alignas(64) float value[kDivisors];
  std::array<std::uint16_t, kDivisors> bits;

  Tries(const Spec& spec, float largest) {
    for (std::size_t j = 0; j < kDivisors; ++j) value[j] = largest / spec.divisors[j];
    clamp_scales(value);
    to_halves(value, Rounding::nearest, value, bits.data());
  }
};

// The index of the D that saves most for the parts from `first` on, each with its best minimum.
HWY_INLINE std::size_t best_scale_try(const Spec& spec, const Lines& lines, std::size_t first, const Tries& tries) {
  alignas(64) float saved[kDivisors];
  for (std::size_t j = 0; j < kDivisors; j += kLanes) {
    const V d = hn::Load(kFloat, tries.value + j), per_step = inverse(d);
    V sum = hn::Zero(kFloat);
    for (std::size_t l = first; l < first + spec.super; ++l) {
      const LineSums sums = one_line(spec, lines, l);
      const Line line = best_line(sums, hn::Mul(d, sub_scale(spec, hn::Set(kFloat, lines.scale[l]), per_step)));
      sum = hn::Add(sum, hn::Max(saved_by(sums, line.scale, line.offset), hn::Zero(kFloat)));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  return index_of_most(saved);
}

// The index of the M that saves most for the scales in `lines`, with minimums close to those in `lines`.
HWY_INLINE std::size_t best_minimum_try(const Spec& spec, const Lines& lines, std::size_t first, const Tries& tries) {
  alignas(64) float saved[kDivisors];
  for (std::size_t j = 0; j < kDivisors; j += kLanes) {
    const V m = hn::Load(kFloat, tries.value + j), per_step = inverse(m);
    V sum = hn::Zero(kFloat);
    for (std::size_t l = first; l < first + spec.super; ++l) {
      const LineSums sums = one_line(spec, lines, l);
      const V scale = hn::Set(kFloat, lines.scale[l]);
      const V minimum = hn::Mul(m, sub_scale(spec, hn::Set(kFloat, -lines.minimum[l]), per_step));
      const V offset = hn::Sub(offset_of_zero(sums, scale), minimum);
      sum = hn::Add(sum, hn::Max(saved_by(sums, scale, offset), hn::Zero(kFloat)));
    }
    hn::Store(sum, kFloat, saved + j);
  }
  return index_of_most(saved);
}

// Finds the D and M of `fast`. Returns false if they do not fit f16.
HWY_INLINE bool fast_supers(const Spec& spec, const Lines& lines, Supers& scales, Supers& minimums, CodedParts& out) {
  alignas(64) float both[16] = {};
  std::array<std::uint16_t, 16> bits;
  for (std::size_t first = 0; first < kParts; first += spec.super) {
    both[0] = *std::max_element(lines.scale + first, lines.scale + first + spec.super) / spec.divisors[0];
    both[1] = -*std::min_element(lines.minimum + first, lines.minimum + first + spec.super) / spec.divisors[0];
    both[1] += 0.0f;  // turns -0 into 0
    to_halves(both, Rounding::up, both, bits.data());
    if (is_infinite(bits[0]) || is_infinite(bits[1])) {
      out.fitting = first;
      return false;
    }
    std::fill_n(scales.value + first, spec.super, both[0]);
    std::fill_n(minimums.value + first, spec.super, both[1]);
    out.scale[first / spec.super] = bits[0];
    out.minimum[first / spec.super] = bits[1];
  }
  return true;
}

void best_supers(const Spec& spec, Lines& lines, Supers& scales, Supers& minimums, CodedParts& out) {
  Lines wanted = lines;
  for (std::size_t first = 0; first < kParts; first += spec.super) {
    const Tries tries(spec, *std::max_element(lines.scale + first, lines.scale + first + spec.super));
    const std::size_t best = best_scale_try(spec, lines, first, tries);
    std::fill_n(scales.value + first, spec.super, tries.value[best]);
    out.scale[first / spec.super] = tries.bits[best];
  }
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V d = hn::Load(kFloat, scales.value + l);
    const V scale = hn::Mul(d, sub_scale(spec, hn::Load(kFloat, lines.scale + l), inverse(d)));
    hn::Store(scale, kFloat, wanted.scale + l);
    hn::Store(best_line(line_sums(spec, lines, l), scale).minimum, kFloat, wanted.minimum + l);
  }
  for (std::size_t first = 0; first < kParts; first += spec.super) {
    const Tries tries(spec, 0.0f - *std::min_element(wanted.minimum + first, wanted.minimum + first + spec.super));
    const std::size_t best = best_minimum_try(spec, wanted, first, tries);
    std::fill_n(minimums.value + first, spec.super, tries.value[best]);
    out.minimum[first / spec.super] = tries.bits[best];
  }
}

template <bool kWeighted>
void choose_super_lines(const Spec& spec, const Tile& tile, bool fast, Lines& lines, Chosen& chosen, CodedParts& out) {
  Supers scales, minimums;
  if (!fast_supers(spec, lines, scales, minimums, out)) return;
  if (!fast) {
    fit_lines<kWeighted>(spec, tile, lines);
    best_supers(spec, lines, scales, minimums, out);
  }
  alignas(64) float subs[kParts];
  alignas(64) float sub_minimums[kParts];
  const V lowest = hn::Zero(kFloat), highest = hn::Set(kFloat, spec.sub_highest), one = hn::Set(kFloat, 1);
  for (std::size_t l = 0; l < kParts; l += kLanes) {
    const V d = hn::Load(kFloat, scales.value + l), m = hn::Load(kFloat, minimums.value + l);
    const V per_d = inverse(d), per_m = inverse(m);
    V a[5] = {sub_scale(spec, hn::Load(kFloat, lines.scale + l), per_d)}, b[5];
    if (fast) {
      b[0] = sub_scale(spec, hn::Neg(hn::Load(kFloat, lines.minimum + l)), per_m);
    } else {
      a[1] = clamp(hn::Sub(a[0], one), lowest, highest);
      a[2] = clamp(hn::Add(a[0], one), lowest, highest);
      a[3] = a[4] = a[0];
      const LineSums sums = line_sums(spec, lines, l);
      for (std::size_t k = 0; k < 3; ++k)
        b[k] = sub_scale(spec, hn::Neg(best_line(sums, hn::Mul(d, a[k])).minimum), per_m);
      b[3] = clamp(hn::Sub(b[0], one), lowest, highest);
      b[4] = clamp(hn::Add(b[0], one), lowest, highest);
      V scale[5], minimum[5], sum[5];
      for (std::size_t k = 0; k < 5; ++k) {
        scale[k] = hn::Mul(d, a[k]);
        minimum[k] = hn::Neg(hn::Mul(m, b[k]));
      }
      line_losses<kWeighted>(spec, tile, l, scale, minimum, sum);
      a[0] = least_of(a, sum);
      b[0] = least_of(b, sum);
    }
    hn::Store(a[0], kFloat, subs + l);
    hn::Store(b[0], kFloat, sub_minimums + l);
    hn::Store(hn::Mul(d, a[0]), kFloat, chosen.scale + l);
    hn::Store(hn::Neg(hn::Mul(m, b[0])), kFloat, chosen.minimum + l);
  }
  for (std::size_t l = 0; l < kParts; ++l) {
    out.sub_scale[l] = static_cast<std::uint8_t>(subs[l]);
    out.sub_minimum[l] = static_cast<std::uint8_t>(sub_minimums[l]);
  }
}

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
