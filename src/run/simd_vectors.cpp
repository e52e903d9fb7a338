// The vector of one token, for every SIMD target.
#include "base/simd_targets.hpp"
#include "run/vectors.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/simd_vectors.cpp"
// What includes itself for each target comes first.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/endian.hpp"
#include "base/half.hpp"

HWY_BEFORE_NAMESPACE();
namespace tare::run::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

struct Floats32 {
  static constexpr std::size_t kBytes = 4;
  static HWY_INLINE V load(const std::byte* from) { return hn::LoadU(D(), reinterpret_cast<const float*>(from)); }
  static float one(const std::byte* from) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
};
struct Brains {
  static constexpr std::size_t kBytes = 2;
  static HWY_INLINE V load(const std::byte* from) {
    const D d;
    const hn::RebindToUnsigned<D> wide;
    const hn::Rebind<std::uint16_t, D> narrow;
    return hn::BitCast(
        d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from)))));
  }
  static float one(const std::byte* from) {
    return std::bit_cast<float>(std::uint32_t{load_le<std::uint16_t>(from)} << 16);
  }
};
struct Halves {
  static constexpr std::size_t kBytes = 2;
  static HWY_INLINE V load(const std::byte* from) {
    const D d;
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
  }
  static float one(const std::byte* from) { return f16_to_f32(load_le<std::uint16_t>(from)); }
};

template <typename Kind>
HWY_INLINE float dot_row(const std::byte* w, const float* x, std::size_t count) {
  const D d;
  V a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  const auto at = [&](std::size_t k) HWY_ATTR { return Kind::load(w + k * Kind::kBytes); };
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    a = hn::MulAdd(at(i), hn::LoadU(d, x + i), a);
    b = hn::MulAdd(at(i + kLanes), hn::LoadU(d, x + i + kLanes), b);
    c = hn::MulAdd(at(i + 2 * kLanes), hn::LoadU(d, x + i + 2 * kLanes), c);
    e = hn::MulAdd(at(i + 3 * kLanes), hn::LoadU(d, x + i + 3 * kLanes), e);
  }
  for (; i + kLanes <= count; i += kLanes) a = hn::MulAdd(at(i), hn::LoadU(d, x + i), a);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < count; ++i) sum += Kind::one(w + i * Kind::kBytes) * x[i];
  return sum;
}

template <typename Kind>
HWY_INLINE void dot_rows(const std::byte* w, std::size_t rows, std::size_t columns, const float* x, float* out) {
  for (std::size_t r = 0; r < rows; ++r) out[r] = dot_row<Kind>(w + r * columns * Kind::kBytes, x, columns);
}

void multiply_stored(Stored type, const std::byte* w, std::size_t rows, std::size_t columns, const float* x,
                     float* out) {
  switch (type) {
    case Stored::f32: return dot_rows<Floats32>(w, rows, columns, x, out);
    case Stored::bf16: return dot_rows<Brains>(w, rows, columns, x, out);
    case Stored::f16: return dot_rows<Halves>(w, rows, columns, x, out);
  }
}

void attend_one(const HeadJob& job, float* scores) {
  const D d;
  float most = job.sink;
  for (std::size_t p = 0; p < job.positions; ++p) {
    float score =
        job.scale * dot_row<Floats32>(reinterpret_cast<const std::byte*>(job.k + p * job.stride), job.q, job.head);
    if (job.soft_cap != 0) score = job.soft_cap * std::tanh(score / job.soft_cap);
    scores[p] = score;
    most = std::max(most, score);
  }
  const V largest = hn::Set(d, most), lowest = hn::Set(d, -87.0f);
  V sums = hn::Zero(d);
  std::size_t p = 0;
  for (; p + kLanes <= job.positions; p += kLanes) {
    const V weight = hn::Exp(d, hn::Max(hn::Sub(hn::LoadU(d, scores + p), largest), lowest));
    hn::StoreU(weight, d, scores + p);
    sums = hn::Add(sums, weight);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (std::isfinite(job.sink)) sum += std::exp(std::max(job.sink - most, -87.0f));
  for (; p < job.positions; ++p) sum += scores[p] = std::exp(std::max(scores[p] - most, -87.0f));
  std::fill_n(job.out, job.value_head, 0.0f);
  for (std::size_t row = 0; row < job.positions; ++row) {
    const float share = scores[row] / sum;
    const float* const v = job.v + row * job.value_stride;
    const V factor = hn::Set(d, share);
    std::size_t i = 0;
    for (; i + kLanes <= job.value_head; i += kLanes)
      hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, v + i), hn::LoadU(d, job.out + i)), d, job.out + i);
    for (; i < job.value_head; ++i) job.out[i] += share * v[i];
  }
}

}  // namespace
}  // namespace tare::run::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::run {
namespace {

HWY_EXPORT(multiply_stored);
HWY_EXPORT(attend_one);

}  // namespace

void multiply_rows(Stored type, const std::byte* w, std::size_t rows, std::size_t columns, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_stored)(type, w, rows, columns, x, out);
}

void attend_vector(const HeadJob& job, float* scores) { HWY_DYNAMIC_DISPATCH(attend_one)(job, scores); }

void normalize_vector(bool rms, const float* x, const float* weight, std::size_t count, float epsilon, float* out) {
  const auto size = static_cast<double>(count);
  double middle = 0, squares = 0;
  if (!rms) {
    for (std::size_t i = 0; i < count; ++i) middle += static_cast<double>(x[i]);
    middle /= size;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double off = static_cast<double>(x[i]) - middle;
    squares += off * off;
  }
  const auto factor = static_cast<float>(1 / std::sqrt(squares / size + static_cast<double>(epsilon)));
  const auto shift = static_cast<float>(middle);
  for (std::size_t i = 0; i < count; ++i) out[i] = (x[i] - shift) * factor * (weight == nullptr ? 1 : weight[i]);
}

}  // namespace tare::run

#endif
