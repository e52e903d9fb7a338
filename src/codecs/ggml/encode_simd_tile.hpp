// Shared by both searches: 16 transposed parts, grids of codes, f16 scales. Included once per SIMD target.
#if defined(TARE_GGML_ENCODE_SIMD_TILE_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_GGML_ENCODE_SIMD_TILE_HPP
#undef TARE_GGML_ENCODE_SIMD_TILE_HPP
#else
#define TARE_GGML_ENCODE_SIMD_TILE_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/half.hpp"
#include "codecs/ggml/encode.hpp"
#include "codecs/ggml/parts.hpp"

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::ggml::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::CappedTag<float, kParts>;
using V = hn::Vec<FloatTag>;
constexpr FloatTag kFloat;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
// Candidates tried in one pass over the weights: as many as the registers hold.
constexpr unsigned kAtOnce = kLanes == 16 ? 4 : 2;
constexpr std::size_t kTileWeights = kParts * kMostPart;
// Parts with smaller weights get no fit, because the inverse could overflow; they keep the scale of `fast`.
constexpr float kLeastExtreme = 0x1p-60f;
constexpr float kMostScale = 65504;

// Weight i of part l is at [(l / kLanes * part + i) * kLanes + l % kLanes].
struct Tile {
  std::size_t part = 0;
  alignas(64) float x[kTileWeights];
  alignas(64) float p[kTileWeights];  // importance

  const float* values(std::size_t l) const { return x + l * part; }
  const float* weights(std::size_t l) const { return p + l * part; }
};

#if HWY_TARGET == HWY_SCALAR

void turn(const float* from, std::size_t part, float* to) { std::copy_n(from, kParts * part, to); }

#else

// Loads four floats at `from`, the next four at `from` + `stride`, and so on.
template <class D>
HWY_INLINE hn::Vec<D> load_fours(D d, const float* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const auto lower = load_fours(half, from, stride);
    return hn::Combine(d, load_fours(half, from + hn::MaxLanes(half) / 4 * stride, stride), lower);
  }
}

// Transposes 4 x 4 squares within every 128 bits.
void turn(const float* from, std::size_t part, float* to) {
  for (std::size_t l = 0; l < kParts; l += kLanes, from += kLanes * part)
    for (std::size_t i = 0; i < part; i += 4, to += 4 * kLanes) {
      V v[4];
      for (std::size_t j = 0; j < 4; ++j) v[j] = load_fours(kFloat, from + j * part + i, 4 * part);
      const V a = hn::InterleaveLower(kFloat, v[0], v[2]), b = hn::InterleaveLower(kFloat, v[1], v[3]);
      const V c = hn::InterleaveUpper(kFloat, v[0], v[2]), d = hn::InterleaveUpper(kFloat, v[1], v[3]);
      hn::Store(hn::InterleaveLower(kFloat, a, b), kFloat, to);
      hn::Store(hn::InterleaveUpper(kFloat, a, b), kFloat, to + kLanes);
      hn::Store(hn::InterleaveLower(kFloat, c, d), kFloat, to + 2 * kLanes);
      hn::Store(hn::InterleaveUpper(kFloat, c, d), kFloat, to + 3 * kLanes);
    }
}

#endif

// Rounds numbers below 2^22 to integers, ties to even.
HWY_INLINE V round(V v) {
  const V magic = hn::Set(kFloat, 0x1.8p23f);
  return hn::Sub(hn::Add(v, magic), magic);
}

HWY_INLINE V clamp(V v, V lowest, V highest) { return hn::Min(hn::Max(v, lowest), highest); }

// 1 / v, but 0 for 0.
HWY_INLINE V inverse(V v) {
  const V quotient = hn::Div(hn::Set(kFloat, 1), v);
  return hn::IfThenZeroElse(hn::Eq(v, hn::Zero(kFloat)), quotient);
}

// Halfway between neighbours.
constexpr auto kIq4Middles = [] {
  std::array<float, 15> middles{};
  for (std::size_t i = 0; i < 15; ++i) middles[i] = (kIq4[i] + kIq4[i + 1]) / 2;
  return middles;
}();
constexpr auto kE2m1Middles = [] {
  std::array<float, 7> middles{};
  for (std::size_t i = 0; i < 7; ++i) middles[i] = (kE2m1[i] + kE2m1[i + 1]) / 2;
  return middles;
}();

// The code nearest to y; with kIndex, its index in the table.
template <Grid kGrid, bool kIndex = false>
HWY_INLINE V nearest(V y, V lowest, V highest) {
  if constexpr (kGrid == Grid::table) {
    V q = hn::Set(kFloat, kIndex ? 0.0f : kIq4[0]);
    for (std::size_t i = 0; i < 15; ++i)
      q = hn::IfThenElse(hn::Gt(y, hn::Set(kFloat, kIq4Middles[i])),
                         hn::Set(kFloat, kIndex ? static_cast<float>(i + 1) : kIq4[i + 1]), q);
    return q;
  } else if constexpr (kGrid == Grid::floats) {
    const V size = hn::Abs(y);
    V q = hn::Zero(kFloat);
    for (std::size_t i = 0; i < 7; ++i)
      q = hn::IfThenElse(hn::Gt(size, hn::Set(kFloat, kE2m1Middles[i])),
                         hn::Set(kFloat, kIndex ? static_cast<float>(i + 1) : kE2m1[i + 1]), q);
    if constexpr (!kIndex) return hn::CopySign(q, y);
    // The table has two zeros; use the positive one.
    const auto negative = hn::And(hn::Lt(y, hn::Zero(kFloat)), hn::Gt(q, hn::Zero(kFloat)));
    return hn::IfThenElse(negative, hn::Add(q, hn::Set(kFloat, 8)), q);
  } else if constexpr (kGrid == Grid::signs) {
    const auto negative = hn::Lt(y, hn::Zero(kFloat));
    return hn::IfThenElse(negative, hn::Set(kFloat, kIndex ? 0.0f : -1.0f), hn::Set(kFloat, 1));
  } else {
    return round(clamp(y, lowest, highest));
  }
}

enum class Rounding : std::uint8_t { nearest, up };

// Rounds 16 scales to f16: bits and values. `up` rounds away from 0 below the normal numbers. A nonzero scale never
// becomes 0; one beyond f16 becomes infinite.
HWY_INLINE void to_halves(const float* scales, Rounding rounding, float* values, std::uint16_t* bits) {
  const std::uint32_t up = rounding == Rounding::up ? 1 : 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const float s = scales[i], size = std::fabs(s);
    const std::uint16_t found = f32_to_f16(s);
    const float value = std::fabs(f16_to_f32(found));
    const std::uint32_t below = static_cast<std::uint32_t>(value < size) & static_cast<std::uint32_t>(size < 0x1p-14f);
    bits[i] = static_cast<std::uint16_t>(found + (below & (up | static_cast<std::uint32_t>(value == 0))));
  }
  for (std::size_t i = 0; i < 16; ++i) values[i] = f16_to_f32(bits[i]);
}

HWY_INLINE bool is_infinite(std::uint16_t bits) { return (bits & 0x7FFF) >= 0x7C00; }

// Clamps 16 scales to the finite range of f16.
HWY_INLINE void clamp_scales(float* scales) {
  for (std::size_t i = 0; i < 16; ++i) scales[i] = std::min(std::max(scales[i], -kMostScale), kMostScale);
}

// The index of the largest of 16 values, the first of equals.
HWY_INLINE std::size_t index_of_most(const float* values) {
  std::size_t best = 0;
  for (std::size_t j = 1; j < 16; ++j)
    if (values[j] > values[best]) best = j;
  return best;
}

// The chosen numbers of each part: a weight becomes scale * q + minimum.
struct Chosen {
  alignas(64) float scale[kParts];
  alignas(64) float minimum[kParts];
};

}  // namespace
}  // namespace tare::codec::ggml::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
