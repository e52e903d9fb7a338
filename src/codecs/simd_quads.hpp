// Products of bytes, summed over four neighbours each. Included once for every SIMD target that has vectors and
// little-endian bytes.
#if defined(TARE_SIMD_QUADS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TARE_SIMD_QUADS_HPP
#undef TARE_SIMD_QUADS_HPP
#else
#define TARE_SIMD_QUADS_HPP
#endif

#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3_DL
// Highway enables only the VEX form (AVX-VNNI) for this target; all processors for which it selects the target have the
// EVEX form.
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512bitalg,avx512vpopcntdq,avx512vnni"
#endif

#undef TARE_HAS_MADDUBS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
#define TARE_HAS_MADDUBS 1
#else
#define TARE_HAS_MADDUBS 0
#endif

#if HWY_TARGET != HWY_SCALAR

// NOLINTBEGIN(misc-definitions-in-headers)
HWY_BEFORE_NAMESPACE();
namespace tare::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 64 bytes.
using QuadCodes = hn::CappedTag<std::uint8_t, 64>;
using QuadSigned = hn::RebindToSigned<QuadCodes>;
using QuadSums = hn::Repartition<std::int32_t, QuadCodes>;

#if TARE_HAS_MADDUBS
using QuadPairs = hn::Vec<hn::Repartition<std::int16_t, QuadCodes>>;

// Multiplies unsigned by signed bytes and adds neighbours, in i16.
HWY_INLINE QuadPairs multiply_pairs(hn::Vec<QuadCodes> a, hn::Vec<QuadSigned> b) {
#if HWY_TARGET == HWY_AVX3
  return QuadPairs{_mm512_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return QuadPairs{_mm256_maddubs_epi16(a.raw, b.raw)};
#else
  return QuadPairs{_mm_maddubs_epi16(a.raw, b.raw)};
#endif
}

// Adds neighbours, in i32.
HWY_INLINE hn::Vec<QuadSums> add_pairs(QuadPairs v) {
  const auto ones = hn::Set(hn::Repartition<std::int16_t, QuadCodes>(), 1);
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<QuadSums>{_mm512_madd_epi16(v.raw, ones.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<QuadSums>{_mm256_madd_epi16(v.raw, ones.raw)};
#else
  return hn::Vec<QuadSums>{_mm_madd_epi16(v.raw, ones.raw)};
#endif
}
#elif HWY_TARGET != HWY_AVX3_DL

// Multiplies signed bytes and adds four neighbours each.
HWY_INLINE hn::Vec<QuadSums> multiply_quads(hn::Vec<QuadSigned> a, hn::Vec<QuadSigned> b) {
#if HWY_TARGET == HWY_NEON
  const int16x8_t low = vmull_s8(vget_low_s8(a.raw), vget_low_s8(b.raw));
  const int16x8_t high = vmull_s8(vget_high_s8(a.raw), vget_high_s8(b.raw));
  // Adds pairs, then pairs of pairs.
  const int32x4_t low32 = vpaddlq_s16(low), high32 = vpaddlq_s16(high);
  return hn::Vec<QuadSums>{vcombine_s32(vpadd_s32(vget_low_s32(low32), vget_high_s32(low32)),
                                        vpadd_s32(vget_low_s32(high32), vget_high_s32(high32)))};
#else
  constexpr std::size_t kBytes = hn::MaxLanes(QuadCodes());
  alignas(64) std::int8_t x[kBytes], y[kBytes];
  alignas(64) std::int32_t sums[kBytes / 4];
  hn::Store(a, QuadSigned(), x);
  hn::Store(b, QuadSigned(), y);
  for (std::size_t i = 0; i < kBytes / 4; ++i)
    sums[i] =
        x[4 * i] * y[4 * i] + x[4 * i + 1] * y[4 * i + 1] + x[4 * i + 2] * y[4 * i + 2] + x[4 * i + 3] * y[4 * i + 3];
  return hn::Load(QuadSums(), sums);
#endif
}
#endif

}  // namespace tare::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
// NOLINTEND(misc-definitions-in-headers)

#endif
#endif
