// Quantizes a vector to 8-bit codes with a scale per 32 values, for every SIMD target.
#include <algorithm>
#include <limits>

#include "base/simd_targets.hpp"
#include "codecs/quantized_vector.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/simd_quantized_vector.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

using Data = QuantizedVector::Data;

// Without vectors, or on big-endian machines (where the bytes of lanes are in another order), the reference is used.
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

namespace hn = hwy::HWY_NAMESPACE;

using CodeTag = hn::CappedTag<std::uint8_t, 64>;
using FloatTag = hn::Repartition<float, CodeTag>;
using SignedTag = hn::RebindToSigned<CodeTag>;
using SumTag = hn::Repartition<std::int32_t, CodeTag>;

inline constexpr std::size_t kVector = hn::MaxLanes(CodeTag());
inline constexpr std::size_t kBlock = Data::kBlock;

// Quantizes one block of the vector; returns false if it has a value that is not finite.
HWY_INLINE bool quantize_block(const float* values, float& scale, std::int8_t* codes) {
  const FloatTag d;
  const SumTag d32;
  constexpr std::size_t kLanes = hn::MaxLanes(FloatTag());
  auto most = hn::Zero(d);
  // x * 0 is 0 for finite numbers and NaN for others, and a NaN persists in the sum.
  auto finite = hn::Zero(d);
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    const auto v = hn::LoadU(d, values + i);
    most = hn::Max(most, hn::Abs(v));
    finite = hn::Add(finite, hn::Mul(v, hn::Zero(d)));
  }
  if (!hn::AllTrue(d, hn::Eq(finite, hn::Zero(d)))) return false;
  scale = hn::GetLane(hn::MaxOfLanes(d, most)) / 127;
  if (scale == 0) return true;
  const auto divisor = hn::Set(d, scale);
  const auto limit = hn::Set(d32, 127);
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    const auto code = hn::NearestInt(hn::Div(hn::LoadU(d, values + i), divisor));
    const auto clamped = hn::Max(hn::Min(code, limit), hn::Neg(limit));
    hn::StoreU(hn::DemoteTo(hn::Rebind<std::int8_t, FloatTag>(), clamped), hn::Rebind<std::int8_t, FloatTag>(),
               codes + i);
  }
  return true;
}

// Stores -128 times the sum of each 4 codes.
HWY_INLINE void sum_quads(const AlignedVector<std::int8_t>& codes, AlignedVector<std::int32_t>& offsets) {
  const SumTag d;
  for (std::size_t i = 0; i < offsets.size(); i += hn::MaxLanes(d)) {
    const auto quads = hn::BitCast(d, hn::Load(SignedTag(), codes.data() + 4 * i));
    const auto last = hn::ShiftRight<24>(quads), third = hn::ShiftRight<24>(hn::ShiftLeft<8>(quads)),
               second = hn::ShiftRight<24>(hn::ShiftLeft<16>(quads)),
               first = hn::ShiftRight<24>(hn::ShiftLeft<24>(quads));
    const auto sum = hn::Add(hn::Add(first, second), hn::Add(third, last));
    hn::Store(hn::Neg(hn::ShiftLeft<7>(sum)), d, offsets.data() + i);
  }
}

HWY_INLINE void split_planes(Data& vector) {
  const SignedTag d;
  for (std::size_t i = 0; i < vector.codes.size(); i += 2 * kVector) {
    hn::Vec<SignedTag> v0, v1;
    hn::LoadInterleaved2(d, vector.codes.data() + i, v0, v1);
    hn::Store(v0, d, vector.twos.codes[0].data() + i / 2);
    hn::Store(v1, d, vector.twos.codes[1].data() + i / 2);
  }
  for (std::size_t i = 0; i < vector.codes.size(); i += 4 * kVector) {
    hn::Vec<SignedTag> v0, v1, v2, v3;
    hn::LoadInterleaved4(d, vector.codes.data() + i, v0, v1, v2, v3);
    hn::Store(v0, d, vector.fours.codes[0].data() + i / 4);
    hn::Store(v1, d, vector.fours.codes[1].data() + i / 4);
    hn::Store(v2, d, vector.fours.codes[2].data() + i / 4);
    hn::Store(v3, d, vector.fours.codes[3].data() + i / 4);
  }
}

void quantize(std::span<const float> vector, Data& result) {
  for (std::size_t b = 0; b * kBlock < vector.size(); ++b) {
    const std::size_t begin = b * kBlock, count = std::min<std::size_t>(kBlock, vector.size() - begin);
    alignas(64) float last[kBlock] = {};
    if (count < kBlock) std::copy_n(vector.data() + begin, count, last);
    if (!quantize_block(count < kBlock ? last : vector.data() + begin, result.scales[b], &result.codes[begin]))
      result.scales[b] = std::numeric_limits<float>::quiet_NaN();
  }
  split_planes(result);
  sum_quads(result.codes, result.ones.offsets);
  // All quotients are exact.
  const auto& ones = result.ones.offsets;
  auto& twos = result.twos.offsets;
  auto& fours = result.fours.offsets;
  for (std::size_t i = 0; i < twos.size(); ++i) twos[i] = (ones[2 * i] + ones[2 * i + 1]) / 16;
  for (std::size_t i = 0; i < fours.size(); ++i) fours[i] = (twos[2 * i] + twos[2 * i + 1]) / 4;
  for (std::size_t b = 0; b < result.scales.size(); ++b) {
    // A block has 2 entries of `fours`.
    const std::int32_t sum = (fours[2 * b] + fours[2 * b + 1]) / -2;
    result.total += static_cast<double>(result.scales[b]) * sum;
  }
}

#else

void quantize(std::span<const float> vector, Data& result) { result = reference_vector(vector); }

#endif

}  // namespace
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare {
namespace {

HWY_EXPORT(quantize);

}  // namespace

QuantizedVector::Data quantized(std::span<const float> vector) {
  using Data = QuantizedVector::Data;
  Data result;
  result.columns = vector.size();
  const std::size_t padded = (vector.size() + Data::kPadding - 1) / Data::kPadding * Data::kPadding;
  result.codes.resize(padded);
  result.scales.resize(padded / Data::kBlock);
  result.ones.offsets.resize(padded / 4);
  result.twos.offsets.resize(padded / 8);
  result.fours.offsets.resize(padded / 16);
  for (std::size_t j = 0; j < 2; ++j) result.twos.codes[j].resize(padded / 2);
  for (std::size_t j = 0; j < 4; ++j) result.fours.codes[j].resize(padded / 4);
  HWY_DYNAMIC_DISPATCH(quantize)(vector, result);
  add_sums(result);
  return result;
}

}  // namespace tare

#endif
