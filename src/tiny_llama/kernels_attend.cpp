// Norms and attention, for every SIMD target.
#include "base/simd_targets.hpp"
#include "tiny_llama/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tiny_llama/kernels_attend.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "tiny_llama/kernels_math.hpp"

HWY_BEFORE_NAMESPACE();
namespace tiny_llama::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

HWY_INLINE float sum_of(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

void add_vectors(const float* a, const float* b, std::size_t size, float* out) {
  const D d;
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) hn::StoreU(hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  for (; i < size; ++i) out[i] = a[i] + b[i];
}

void normalize(const float* x, const float* weight, const float* bias, std::size_t size, float* out) {
  const D d;
  const std::size_t whole = size / kLanes * kLanes;
  V sum = hn::Zero(d);
  for (std::size_t i = 0; i < whole; i += kLanes) sum = hn::Add(sum, hn::LoadU(d, x + i));
  float total = sum_of(sum);
  for (std::size_t i = whole; i < size; ++i) total += x[i];
  const float mean = total / static_cast<float>(size);

  V squares = hn::Zero(d);
  const V middle = hn::Set(d, mean);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const V off = hn::Sub(hn::LoadU(d, x + i), middle);
    squares = hn::MulAdd(off, off, squares);
  }
  float spread = sum_of(squares);
  for (std::size_t i = whole; i < size; ++i) spread += (x[i] - mean) * (x[i] - mean);
  constexpr float kEpsilon = 1e-5f;
  const float scale = 1 / std::sqrt(spread / static_cast<float>(size) + kEpsilon);

  const V factor = hn::Set(d, scale);
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const V unit = hn::Mul(hn::Sub(hn::LoadU(d, x + i), middle), factor);
    hn::StoreU(hn::MulAdd(unit, hn::LoadU(d, weight + i), hn::LoadU(d, bias + i)), d, out + i);
  }
  for (std::size_t i = whole; i < size; ++i) out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

HWY_INLINE float dot(const float* a, const float* b, std::size_t size) {
  const D d;
  V even = hn::Zero(d), odd = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * kLanes <= size; i += 2 * kLanes) {
    even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
    odd = hn::MulAdd(hn::LoadU(d, a + i + kLanes), hn::LoadU(d, b + i + kLanes), odd);
  }
  for (; i + kLanes <= size; i += kLanes) even = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), even);
  float sum = sum_of(hn::Add(even, odd));
  for (; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

// scores = exp(scores - the largest); returns their sum.
HWY_INLINE float soft_maximum(float* scores, std::size_t count) {
  const D d;
  float most = scores[0];
  for (std::size_t i = 1; i < count; ++i) most = std::max(most, scores[i]);
  const V middle = hn::Set(d, most);
  V sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const V e = hn::Exp(d, hn::Sub(hn::LoadU(d, scores + i), middle));
    hn::StoreU(e, d, scores + i);
    sum = hn::Add(sum, e);
  }
  float total = sum_of(sum);
  for (; i < count; ++i) total += scores[i] = std::exp(scores[i] - most);
  return total;
}

void attend_head(const Attention& job, float* scores) {
  const D d;
  const float scale = 1 / std::sqrt(static_cast<float>(job.head));
  for (std::size_t p = 0; p < job.positions; ++p) scores[p] = dot(job.q, job.k + p * job.stride, job.head) * scale;
  const float share = 1 / soft_maximum(scores, job.positions);

  constexpr std::size_t kWide = 4;
  std::size_t c = 0;
  for (; c + kWide * kLanes <= job.head; c += kWide * kLanes) {
    V sums[kWide];
    for (V& sum : sums) sum = hn::Zero(d);
    for (std::size_t p = 0; p < job.positions; ++p) {
      const V weight = hn::Set(d, scores[p]);
      const float* const v = job.v + p * job.stride + c;
      for (std::size_t k = 0; k < kWide; ++k) sums[k] = hn::MulAdd(weight, hn::LoadU(d, v + k * kLanes), sums[k]);
    }
    for (std::size_t k = 0; k < kWide; ++k)
      hn::StoreU(hn::Mul(sums[k], hn::Set(d, share)), d, job.out + c + k * kLanes);
  }
  for (; c + kLanes <= job.head; c += kLanes) {
    V sum = hn::Zero(d);
    for (std::size_t p = 0; p < job.positions; ++p)
      sum = hn::MulAdd(hn::Set(d, scores[p]), hn::LoadU(d, job.v + p * job.stride + c), sum);
    hn::StoreU(hn::Mul(sum, hn::Set(d, share)), d, job.out + c);
  }
  for (; c < job.head; ++c) {
    float sum = 0;
    for (std::size_t p = 0; p < job.positions; ++p) sum += scores[p] * job.v[p * job.stride + c];
    job.out[c] = sum * share;
  }
}

}  // namespace
}  // namespace tiny_llama::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tiny_llama {
namespace {

HWY_EXPORT(add_vectors);
HWY_EXPORT(normalize);
HWY_EXPORT(attend_head);

}  // namespace

void add(const float* a, const float* b, std::size_t size, float* out) {
  HWY_DYNAMIC_DISPATCH(add_vectors)(a, b, size, out);
}

void layer_norm(const float* x, const float* weight, const float* bias, std::size_t size, float* out) {
  HWY_DYNAMIC_DISPATCH(normalize)(x, weight, bias, size, out);
}

void attend(const Attention& job, float* scores) { HWY_DYNAMIC_DISPATCH(attend_head)(job, scores); }

}  // namespace tiny_llama

#endif
