#include "codecs/simd_halves.hpp"

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/simd_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/simd_halves.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tare::HWY_NAMESPACE {
namespace {

void widen(const std::byte* halves, std::size_t count, float* out) {
  std::size_t i = 0;
// On other targets, the code that compilers generate for the loop is as fast.
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<float, 16> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  for (; i + hn::MaxLanes(d) <= count; i += hn::MaxLanes(d)) {
    const auto* const at = reinterpret_cast<const hwy::float16_t*>(halves + 2 * i);
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, at)), d, out + i);
  }
#endif
  for (; i < count; ++i) out[i] = f16_to_f32(load_le<std::uint16_t>(halves + 2 * i));
}

}  // namespace
}  // namespace tare::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare {
namespace {

HWY_EXPORT(widen);

}  // namespace

void halves_to_floats(const std::byte* halves, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(widen)(halves, count, out);
}

}  // namespace tare

#endif
