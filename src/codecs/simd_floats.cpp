#include "codecs/simd_floats.hpp"

#include <bit>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/simd_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/simd_floats.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

void add_products(const float* factors, const float* rows, std::size_t stride, std::size_t terms, std::size_t count,
                  float* sums) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 16> tag;
  constexpr std::size_t kLanes = hn::MaxLanes(tag);
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    auto sum0 = hn::Zero(tag), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    const float* from = rows + i;
    for (std::size_t k = 0; k < terms; ++k, from += stride) {
      const auto factor = hn::Set(tag, factors[k]);
      sum0 = hn::Add(sum0, hn::Mul(factor, hn::LoadU(tag, from)));
      sum1 = hn::Add(sum1, hn::Mul(factor, hn::LoadU(tag, from + kLanes)));
      sum2 = hn::Add(sum2, hn::Mul(factor, hn::LoadU(tag, from + 2 * kLanes)));
      sum3 = hn::Add(sum3, hn::Mul(factor, hn::LoadU(tag, from + 3 * kLanes)));
    }
    hn::StoreU(sum0, tag, sums + i);
    hn::StoreU(sum1, tag, sums + i + kLanes);
    hn::StoreU(sum2, tag, sums + i + 2 * kLanes);
    hn::StoreU(sum3, tag, sums + i + 3 * kLanes);
  }
#endif
  for (; i < count; ++i) {
    float sum = 0;
    for (std::size_t k = 0; k < terms; ++k) sum += factors[k] * rows[k * stride + i];
    sums[i] = sum;
  }
}

std::size_t narrow_one(const std::byte* from, std::byte* to) {
  const auto bits = load_le<std::uint32_t>(from);
  const std::uint16_t stored = f32_to_bf16(std::bit_cast<float>(bits));
  store_le<std::uint16_t>(to, stored);
  return (stored & 0x7FFFu) == 0x7F80u && (bits & 0x7FFFFFFFu) < 0x7F800000u ? 1 : 0;
}

std::size_t narrow(const std::byte* floats, std::size_t count, std::byte* out) {
  std::size_t i = 0, infinite = 0;
#if HWY_TARGET != HWY_SCALAR && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const hn::CappedTag<std::uint32_t, 16> tag;
  const hn::Rebind<std::uint16_t, decltype(tag)> half;
  const hn::RebindToSigned<decltype(tag)> whole;
  constexpr std::size_t kLanes = hn::MaxLanes(tag);
  const auto magnitude = hn::Set(tag, 0x7FFFFFFF), one = hn::Set(tag, 1), below = hn::Set(tag, 0x7FFF);
  const auto quiet = hn::Set(tag, 0x40);
  // The largest magnitude that does not round to infinity. Larger ones and NaN are rare, so a whole vector is tested.
  const auto last = hn::Set(whole, 0x7F7F7FFF), infinity = hn::Set(whole, 0x7F800000);
  // The numbers may have any alignment, so they are loaded and stored as bytes.
  const hn::Repartition<std::uint8_t, decltype(tag)> bytes;
  const hn::Repartition<std::uint8_t, decltype(half)> half_bytes;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(floats);
  auto* const to = reinterpret_cast<std::uint8_t*>(out);
  for (; i + kLanes <= count; i += kLanes) {
    const auto bits = hn::BitCast(tag, hn::LoadU(bytes, from + 4 * i));
    const auto high = hn::ShiftRight<16>(bits);
    auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, below), hn::And(high, one)));
    const auto size = hn::BitCast(whole, hn::And(bits, magnitude));
    if (HWY_UNLIKELY(!hn::AllFalse(whole, hn::Gt(size, last)))) {
      const auto is_nan = hn::Gt(size, infinity);
      rounded = hn::IfThenElse(hn::RebindMask(tag, is_nan), hn::Or(high, quiet), rounded);
      infinite += hn::CountTrue(whole, hn::Gt(size, last)) -
                  hn::CountTrue(whole, hn::Gt(size, hn::Sub(infinity, hn::Set(whole, 1))));
    }
    hn::StoreU(hn::BitCast(half_bytes, hn::TruncateTo(half, rounded)), half_bytes, to + 2 * i);
  }
#endif
  for (; i < count; ++i) infinite += narrow_one(floats + 4 * i, out + 2 * i);
  return infinite;
}

}  // namespace
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare {
namespace {

HWY_EXPORT(add_products);
HWY_EXPORT(narrow);

}  // namespace

void sum_products(const float* factors, const float* rows, std::size_t stride, std::size_t terms, std::size_t count,
                  float* sums) {
  HWY_DYNAMIC_DISPATCH(add_products)(factors, rows, stride, terms, count, sums);
}

std::size_t floats_to_bf16(const std::byte* floats, std::size_t count, std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(narrow)(floats, count, out);
}

}  // namespace tare

#endif
