// Shared by all steps of encoding, and the `fast` scales. Included once per SIMD target, in its own namespace.
#if defined(TARE_MCF_ENCODE_SIMD_SCALES_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_MCF_ENCODE_SIMD_SCALES_HPP
#undef TARE_MCF_ENCODE_SIMD_SCALES_HPP
#else
#define TARE_MCF_ENCODE_SIMD_SCALES_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codecs/mcf/encode_search.hpp"

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::mcf::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes: half a block, or as many blocks as a tile has.
using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::RebindToSigned<FloatTag>;
using V = hn::Vec<FloatTag>;
constexpr FloatTag kFloat;
constexpr IntTag kInt;
constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());

constexpr std::size_t kTile = 16;   // blocks that are searched together: two super-blocks
constexpr std::size_t kBatch = 64;  // blocks that go through the steps together: 8 KiB of values

// Rounds numbers below 2^22 to integers, ties to even; faster than the instruction, which takes two steps.
HWY_INLINE V round(V v) {
  const V magic = hn::Set(kFloat, 0x1.8p23f);
  return hn::Sub(hn::Add(v, magic), magic);
}

// Rounds `count` scales (a multiple of 16) like round_scale: values and bits. `rounded` may be `scales`. Scales beyond
// f16 become 65536.
HWY_INLINE void round_scales(const float* scales, std::size_t count, float* rounded, std::uint16_t* bits) {
  const hn::Rebind<std::uint16_t, FloatTag> d16;
  for (std::size_t i = 0; i < count; i += kLanes) {
    const V s = hn::LoadU(kFloat, scales + i);
    // Normal numbers: the mantissa is rounded, ties to even; the bias of the exponent differs by 112.
    const auto as_int = hn::BitCast(kInt, hn::Min(s, hn::Set(kFloat, 65536)));
    const auto odd = hn::And(hn::ShiftRight<13>(as_int), hn::Set(kInt, 1));
    const auto cut = hn::AndNot(hn::Set(kInt, 0x1FFF), hn::Add(as_int, hn::Add(odd, hn::Set(kInt, 0xFFF))));
    // Subnormal numbers are multiples of 2^-24, and are rounded up.
    const V steps = hn::Min(hn::Mul(s, hn::Set(kFloat, 0x1p24f)), hn::Set(kFloat, 1024));
    const V nearest = round(steps);
    const V up = hn::Add(nearest, hn::IfThenElseZero(hn::Lt(nearest, steps), hn::Set(kFloat, 1)));
    const auto small = hn::Lt(s, hn::Set(kFloat, 0x1p-14f));
    const V value = hn::IfThenElse(small, hn::Mul(up, hn::Set(kFloat, 0x1p-24f)), hn::BitCast(kFloat, cut));
    const auto normal = hn::Sub(hn::ShiftRight<13>(cut), hn::Set(kInt, 112 << 10));
    const auto code = hn::IfThenElse(hn::RebindMask(kInt, small), hn::ConvertTo(kInt, up), normal);
    hn::StoreU(value, kFloat, rounded + i);
    hn::StoreU(hn::DemoteTo(d16, code), d16, bits + i);
  }
}

struct Scales {
  alignas(64) float absmax[kBatch];
  alignas(64) float block[kBatch];         // S, or S * (u / 32)
  alignas(64) float super[kBatch] = {};    // S of each super-block
  alignas(64) std::uint16_t bits[kBatch];  // the bits of S of each block or super-block
  alignas(64) std::uint8_t sub[kBatch];    // u
};

// Largest magnitudes per lane, compared as integers: infinities and then NaN are larger than all numbers.

HWY_INLINE hn::Vec<IntTag> partial_absmax(const float* block) {
  const auto mask = hn::Set(kInt, 0x7FFFFFFF);
  auto most = hn::Zero(kInt);
  for (std::size_t i = 0; i < kBlock; i += kLanes)
    most = hn::Max(most, hn::And(hn::BitCast(kInt, hn::LoadU(kFloat, block + i)), mask));
  return most;
}

#if HWY_TARGET == HWY_SCALAR

float block_absmax(const float* values, std::size_t blocks, float* absmax) {
  auto most = hn::Zero(kInt);
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto here = partial_absmax(values + b * kBlock);
    most = hn::Max(most, here);
    hn::StoreU(hn::BitCast(kFloat, here), kFloat, absmax + b);
  }
  return hn::GetLane(hn::BitCast(kFloat, most));
}

#else

// The maximum of the 128-bit parts of a vector, lane by lane.
template <class D>
HWY_INLINE hn::Vec<hn::CappedTag<std::int32_t, 4>> max_of_parts(D /*tag*/, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return max_of_parts(half, hn::Max(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Stores the largest magnitude of each block and returns the largest of all. Takes four blocks at a time, so that the
// lanes of four vectors are compared together; `absmax` needs room for `blocks` rounded up to a multiple of four.
float block_absmax(const float* values, std::size_t blocks, float* absmax) {
  const hn::CappedTag<std::int32_t, 4> d4;
  const hn::CappedTag<float, 4> f4;
  auto most = hn::Zero(d4);
  const hn::RepartitionToWide<IntTag> wide;
  const auto pairs = [&](auto low, auto high) HWY_ATTR {
    return hn::Max(hn::InterleaveLower(kInt, low, high), hn::InterleaveUpper(kInt, low, high));
  };
  for (std::size_t b = 0; b < blocks; b += 4) {
    const auto at = [&](std::size_t i) HWY_ATTR {
      return b + i < blocks ? partial_absmax(values + (b + i) * kBlock) : hn::Zero(kInt);
    };
    const auto low = hn::BitCast(wide, pairs(at(0), at(1))), high = hn::BitCast(wide, pairs(at(2), at(3)));
    const auto all = hn::Max(hn::BitCast(kInt, hn::InterleaveLower(wide, low, high)),
                             hn::BitCast(kInt, hn::InterleaveUpper(wide, low, high)));
    const auto four = max_of_parts(kInt, all);
    most = hn::Max(most, four);
    hn::StoreU(hn::BitCast(f4, four), f4, absmax + b);
  }
  return hn::GetLane(hn::BitCast(f4, hn::MaxOfLanes(d4, most)));
}

#endif

// Both return the first block whose scale overflows (for super-blocks: its first block), or `blocks`. Entries of the
// batch after `blocks` are computed, too, but have no meaning.

std::size_t fast_blocks(float qmax, std::size_t blocks, Scales& s) {
  for (std::size_t b = 0; b < blocks; b += kLanes)
    hn::Store(hn::Div(hn::Load(kFloat, s.absmax + b), hn::Set(kFloat, qmax)), kFloat, s.block + b);
  round_scales(s.block, (blocks + kTile - 1) / kTile * kTile, s.block, s.bits);
  V most = hn::Zero(kFloat);
  for (std::size_t b = 0; b < blocks; b += kLanes) most = hn::Max(most, hn::Load(kFloat, s.block + b));
  if (!(hn::GetLane(hn::MaxOfLanes(kFloat, most)) > kLargestScale)) return blocks;
  // The overflow may be in an entry after the last block, which does not count.
  return static_cast<std::size_t>(
      std::find_if(s.block, s.block + blocks, [](float scale) { return scale > kLargestScale; }) - s.block);
}

std::size_t fast_supers(float qmax, std::size_t blocks, Scales& s) {
  const std::size_t supers = blocks / kBlocksInSuper;
  alignas(64) float of_block[kBatch];
  for (std::size_t i = 0; i < supers; ++i) {
    const float* const a = s.absmax + i * kBlocksInSuper;
    const float left = std::max(std::max(a[0], a[1]), std::max(a[2], a[3]));
    const float right = std::max(std::max(a[4], a[5]), std::max(a[6], a[7]));
    s.super[i] = std::max(left, right) / qmax;
  }
  round_scales(s.super, kTile, s.super, s.bits);
  for (std::size_t i = 0; i < supers; ++i) {
    if (s.super[i] > kLargestScale) return i * kBlocksInSuper;
    std::fill_n(of_block + i * kBlocksInSuper, kBlocksInSuper, s.super[i]);
  }
  std::fill(of_block + blocks, of_block + kBatch, 1.0f);
  const hn::Rebind<std::uint8_t, FloatTag> d8;
  const V one = hn::Set(kFloat, 1);
  for (std::size_t b = 0; b < blocks; b += kLanes) {
    const V scale = hn::Div(hn::Load(kFloat, s.absmax + b), hn::Set(kFloat, qmax)),
            super = hn::Load(kFloat, of_block + b);
    const V steps = hn::Div(hn::Mul(hn::Set(kFloat, 32), scale), super);
    const V u =
        hn::IfThenZeroElse(hn::Eq(scale, hn::Zero(kFloat)), round(hn::Min(hn::Max(steps, one), hn::Set(kFloat, 63))));
    hn::Store(hn::Mul(super, hn::Mul(u, hn::Set(kFloat, 1.0f / 32))), kFloat, s.block + b);
    hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(kInt, u)), d8, s.sub + b);
  }
  return blocks;
}

}  // namespace
}  // namespace tare::codec::mcf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
