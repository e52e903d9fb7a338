// Rows times a vector of 8-bit codes, for every SIMD target.
//
// The products of a block are summed as integers: exactly, and the same on every target. x86 multiplies unsigned by
// signed bytes, so a row's codes q are used as q + 2^(bits-1), which for packed codes is one XOR, and what that adds is
// taken back by starting the sum at -2^(bits-1) times the sum of the vector's codes. The vector brings that sum along
// for each 4 codes (the step of VPDPBUSD), made once for all rows. Then one f32 scale for each block.
#include "codecs/mcf_kernels.hpp"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/mcf_simd_dot8.cpp"
#include <hwy/foreach_target.h>

#include "codecs/mcf_simd_unpack.hpp"

#if HWY_TARGET == HWY_AVX3_DL
// Highway names the VEX form (AVX-VNNI) for this target; every processor it chooses the target for has the EVEX form.
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512bitalg,avx512vpopcntdq,avx512vnni"
#endif

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

#if TARE_MCF_HAS_SIMD

using SignedTag = hn::RebindToSigned<CodeTag>;
using SumTag = hn::Repartition<std::int32_t, CodeTag>;
using SumVec = hn::Vec<SumTag>;

inline constexpr std::size_t kVector = hn::MaxLanes(CodeTag());

// Sums of products of a vector of codes with a vector of x, in i32 lanes. Lanes of the lower 32 bytes stay in the lower
// half of a 64-byte vector.
template <unsigned kBits>
HWY_INLINE SumVec products(const std::uint8_t* codes, const std::int8_t* x, const std::int32_t* offsets) {
  const CodeTag d;
  const SumTag d32;
  const auto v = hn::LoadU(SignedTag(), x);
  [[maybe_unused]] const auto shifted = [&]() HWY_ATTR {
    return hn::Xor(raw_codes<kBits>(d, codes), hn::Set(d, std::uint8_t{1 << (kBits - 1)}));
  };
  // -128 times the sum of 4 codes, as the code width needs it.
  [[maybe_unused]] const auto start = [&]() HWY_ATTR {
    const auto wide = hn::LoadU(d32, offsets);
    if constexpr (kBits == 8)
      return wide;
    else
      return hn::ShiftRight<8 - kBits>(wide);
  };
#if HWY_TARGET == HWY_AVX3_DL
  return SumVec{_mm512_dpbusd_epi32(start().raw, shifted().raw, v.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
#if HWY_TARGET == HWY_AVX3
#define TARE_MADDUBS(a, b) _mm512_maddubs_epi16(a, b)
#define TARE_MADD(a, b) _mm512_madd_epi16(a, b)
#elif HWY_TARGET == HWY_AVX2
#define TARE_MADDUBS(a, b) _mm256_maddubs_epi16(a, b)
#define TARE_MADD(a, b) _mm256_madd_epi16(a, b)
#else
#define TARE_MADDUBS(a, b) _mm_maddubs_epi16(a, b)
#define TARE_MADD(a, b) _mm_madd_epi16(a, b)
#endif
  const auto ones = hn::Set(hn::Repartition<std::int16_t, CodeTag>(), 1);
  if constexpr (kBits == 8) {
    // |q| times x with q's sign: sums of two stay within 16 bits, 2 * 128 * 127, where 255 * 127 * 2 would not.
    const auto q = hn::BitCast(SignedTag(), raw_codes<8>(d, codes));
    const auto negative = hn::Lt(q, hn::Zero(SignedTag()));
    const auto signed_x = hn::IfThenElse(negative, hn::Sub(hn::Zero(SignedTag()), v), v);
    // The magnitude of -128 is 128 as an unsigned byte.
    const auto magnitude = hn::IfThenElse(negative, hn::Sub(hn::Zero(SignedTag()), q), q);
    return SumVec{TARE_MADD(TARE_MADDUBS(magnitude.raw, signed_x.raw), ones.raw)};
  } else {
    return hn::Add(start(), SumVec{TARE_MADD(TARE_MADDUBS(shifted().raw, v.raw), ones.raw)});
  }
#undef TARE_MADDUBS
#undef TARE_MADD
#elif HWY_TARGET == HWY_NEON
  const auto q = signed_codes<kBits>(d, codes);
  const int16x8_t low = vmull_s8(vget_low_s8(q.raw), vget_low_s8(v.raw));
  const int16x8_t high = vmull_s8(vget_high_s8(q.raw), vget_high_s8(v.raw));
  return SumVec{vpadalq_s16(vpaddlq_s16(low), high)};
#else
  const hn::RepartitionToWide<SignedTag> d16;
  const hn::Half<SignedTag> half;
  const auto q = signed_codes<kBits>(d, codes);
  auto rest = hn::Zero(d32);
  auto sum = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, hn::LowerHalf(half, q)),
                                           hn::PromoteTo(d16, hn::LowerHalf(half, v)), hn::Zero(d32), rest);
  sum = hn::ReorderWidenMulAccumulate(d32, hn::PromoteTo(d16, hn::UpperHalf(half, q)),
                                      hn::PromoteTo(d16, hn::UpperHalf(half, v)), sum, rest);
  return hn::Add(sum, rest);
#endif
}

// Adds scale * products for the blocks of a segment. `scales` has the products of both scales of 16 blocks, 0 behind
// `blocks`.
template <unsigned kBits>
HWY_INLINE void add_segment(const std::uint8_t* codes, const std::int8_t* x, const std::int32_t* offsets,
                            const float* scales, std::size_t blocks, hn::Vec<FloatTag>& even, hn::Vec<FloatTag>& odd) {
  const FloatTag d;
  constexpr std::size_t kBlockBytes = kMcfBlock * kBits / 8;
  if constexpr (kVector == 2 * kMcfBlock) {
    // Lanes 0-7 belong to one block, 8-15 to the next.
    alignas(64) static constexpr std::int32_t kLanes[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const auto all = hn::Load(d, scales);
    const auto lanes = hn::Load(SumTag(), kLanes);
    const auto add_pair = [&](std::size_t b, hn::Vec<FloatTag>& sum) HWY_ATTR {
      const auto index = hn::IndicesFromVec(d, hn::Add(lanes, hn::Set(SumTag(), static_cast<std::int32_t>(b))));
      const auto exact = products<kBits>(codes + b * kBlockBytes, x + b * kMcfBlock, offsets + b * kMcfBlock / 4);
      sum = hn::MulAdd(hn::ConvertTo(d, exact), hn::TableLookupLanes(all, index), sum);
    };
    if (blocks == kSegmentBlocks) {
      HWY_UNROLL(4)
      for (std::size_t b = 0; b < kSegmentBlocks; b += 4) {
        add_pair(b, even);
        add_pair(b + 2, odd);
      }
    } else {
      for (std::size_t b = 0; b < blocks; b += 2) add_pair(b, even);
    }
  } else {
    for (std::size_t b = 0; b < blocks; ++b) {
      auto exact = products<kBits>(codes + b * kBlockBytes, x + b * kMcfBlock, offsets + b * kMcfBlock / 4);
      for (std::size_t i = kVector; i < kMcfBlock; i += kVector)
        exact = hn::Add(exact, products<kBits>(codes + b * kBlockBytes + i * kBits / 8, x + b * kMcfBlock + i,
                                               offsets + (b * kMcfBlock + i) / 4));
      auto& sum = b % 2 == 0 ? even : odd;
      sum = hn::MulAdd(hn::ConvertTo(d, exact), hn::Set(d, scales[b]), sum);
    }
  }
}

// scales[i] *= of_vector[i] for 16 blocks.
HWY_INLINE void multiply_scales(const float* of_vector, float* HWY_RESTRICT scales) {
  const FloatTag d;
  for (std::size_t i = 0; i < kSegmentBlocks; i += hn::MaxLanes(d))
    hn::Store(hn::Mul(hn::Load(d, scales + i), hn::Load(d, of_vector + i)), d, scales + i);
}

template <unsigned kBits, McfFamily kFamily>
float dot_row(const McfRows& row, const McfVector& vector) {
  const FloatTag d;
  auto even = hn::Zero(d), odd = hn::Zero(d);
  for_each_segment<kBits, kFamily>(row, [&](const SegmentBytes& at, std::size_t first, std::size_t blocks) HWY_ATTR {
    alignas(64) float scales[kSegmentBlocks];
    segment_scales<kFamily>(at.scales, at.sub_scales, scales);
    multiply_scales(vector.scales.data() + first, scales);
    add_segment<kBits>(at.codes, vector.codes.data() + first * kMcfBlock, vector.offsets.data() + first * kMcfBlock / 4,
                       scales, blocks, even, odd);
  });
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
}

template <unsigned kBits, McfFamily kFamily>
void dot_all(const McfRows& rows, const McfVector& vector, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) out[r] = dot_row<kBits, kFamily>(mcf_row(rows, r), vector);
}

// int*: a row's codes, brought to bytes where they are nibbles, with the vector's scales alone.
void dot_raw(const McfRows& rows, const McfVector& vector, float* out) {
  const FloatTag d;
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    for_each_raw(mcf_row(rows, r), rows.columns,
                 [&](const std::int8_t* codes, std::uint64_t first, std::size_t count) HWY_ATTR {
                   const auto begin = static_cast<std::size_t>(first);
                   add_segment<8>(reinterpret_cast<const std::uint8_t*>(codes), vector.codes.data() + begin,
                                  vector.offsets.data() + begin / 4, vector.scales.data() + begin / kMcfBlock,
                                  (count + kMcfBlock - 1) / kMcfBlock, even, odd);
                 });
    const double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    out[r] = static_cast<float>(rows.scale * (sum - rows.zero * vector.total));
  }
}

void dot8(const McfRows& rows, const McfVector& vector, float* out) {
  if (rows.method->family == McfFamily::raw) return dot_raw(rows, vector, out);
  const bool block = rows.method->family == McfFamily::block;
  switch (rows.method->bits) {
    case 8: return dot_all<8, McfFamily::block>(rows, vector, out);
    case 6: return dot_all<6, McfFamily::super>(rows, vector, out);
    case 4:
      return block ? dot_all<4, McfFamily::block>(rows, vector, out) : dot_all<4, McfFamily::super>(rows, vector, out);
    case 3: return dot_all<3, McfFamily::super>(rows, vector, out);
    default: return dot_all<2, McfFamily::super>(rows, vector, out);
  }
}

// One block of the vector; false when it holds something that is not finite.
HWY_INLINE bool quantize_block(const float* values, float& scale, std::int8_t* codes) {
  const FloatTag d;
  const SumTag d32;
  constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
  auto most = hn::Zero(d);
  // x * 0 is 0 for finite numbers and NaN for the others, and NaN stays in a sum.
  auto finite = hn::Zero(d);
  for (std::size_t i = 0; i < kMcfBlock; i += kLanes) {
    const auto v = hn::LoadU(d, values + i);
    most = hn::Max(most, hn::Abs(v));
    finite = hn::Add(finite, hn::Mul(v, hn::Zero(d)));
  }
  if (!hn::AllTrue(d, hn::Eq(finite, hn::Zero(d)))) return false;
  scale = hn::GetLane(hn::MaxOfLanes(d, most)) / 127;
  if (scale == 0) return true;
  const auto divisor = hn::Set(d, scale);
  const auto limit = hn::Set(d32, 127);
  for (std::size_t i = 0; i < kMcfBlock; i += kLanes) {
    const auto code = hn::NearestInt(hn::Div(hn::LoadU(d, values + i), divisor));
    const auto clamped = hn::Max(hn::Min(code, limit), hn::Neg(limit));
    hn::StoreU(hn::DemoteTo(hn::Rebind<std::int8_t, FloatTag>(), clamped), hn::Rebind<std::int8_t, FloatTag>(),
               codes + i);
  }
  return true;
}

void quantize(std::span<const float> vector, McfVector& result) {
  for (std::size_t b = 0; b * kMcfBlock < vector.size(); ++b) {
    const std::size_t begin = b * kMcfBlock, count = std::min<std::size_t>(kMcfBlock, vector.size() - begin);
    alignas(64) float last[kMcfBlock] = {};
    if (count < kMcfBlock) std::copy_n(vector.data() + begin, count, last);
    if (!quantize_block(count < kMcfBlock ? last : vector.data() + begin, result.scales[b], &result.codes[begin]))
      result.scales[b] = std::numeric_limits<float>::quiet_NaN();
  }
}

#else

void dot8(const McfRows& rows, const McfVector& vector, float* out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r)
    out[r] = static_cast<float>(mcf_reference_dot(mcf_row(rows, r), vector));
}

void quantize(std::span<const float> vector, McfVector& result) { result = mcf_reference_vector(vector); }

#endif

}  // namespace
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare {
namespace {

HWY_EXPORT(dot8);
HWY_EXPORT(quantize);

}  // namespace

void mcf_dot(const McfRows& rows, const McfVector& vector, float* out) {
  if (rows.rows == 0) return;
  if (rows.columns == 0) return static_cast<void>(std::fill_n(out, rows.rows, 0.0f));
  HWY_DYNAMIC_DISPATCH(dot8)(rows, vector, out);
}

McfVector mcf_vector(std::span<const float> vector) {
  McfVector result;
  result.columns = vector.size();
  const std::size_t padded = (vector.size() + McfVector::kPadding - 1) / McfVector::kPadding * McfVector::kPadding;
  result.codes.resize(padded);
  result.scales.resize(padded / kMcfBlock);
  HWY_DYNAMIC_DISPATCH(quantize)(vector, result);
  finish_mcf_vector(result);
  return result;
}

}  // namespace tare

#endif
