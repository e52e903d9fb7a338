// All steps other than products, for every SIMD target. Each lane is a token, so no step sums across a vector.
#include "base/simd_targets.hpp"
#include "run/kernels.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/simd_steps.cpp"
// What includes itself for each target comes first.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tare::run::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPanel>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

// Calls work(c, x) for the vectors of a panel with `features` features, and stores the results.
template <typename Work>
HWY_INLINE void for_each_vector(float* x, std::size_t features, const Work& work) {
  const D d;
  for (std::size_t i = 0; i < features * kPanel; i += kLanes) hn::StoreU(work(i, hn::LoadU(d, x + i)), d, x + i);
}

bool are_finite(const float* values, std::size_t count) {
  // The exponent of NaN and infinity has all bits set.
  const hn::ScalableTag<std::int32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto exponent = hn::Set(d, 0x7F800000);
  auto most = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    most = hn::Max(most, hn::And(hn::BitCast(d, hn::LoadU(hn::ScalableTag<float>(), values + i)), exponent));
  bool finite = hn::GetLane(hn::MaxOfLanes(d, most)) < 0x7F800000;
  for (; i < count; ++i) finite = finite && std::isfinite(values[i]);
  return finite;
}

// The sum of f(x) over the features, in blocks, so that the error does not grow with the number of features.
template <typename Function>
HWY_INLINE V sum_over(const float* x, std::size_t features, const Function& function) {
  constexpr std::size_t kBlock = 64;
  const D d;
  V total = hn::Zero(d);
  for (std::size_t begin = 0; begin < features; begin += kBlock) {
    V sum = hn::Zero(d);
    for (std::size_t f = begin; f < std::min(begin + kBlock, features); ++f)
      sum = hn::Add(sum, function(hn::LoadU(d, x + f * kPanel)));
    total = hn::Add(total, sum);
  }
  return total;
}

void normalize_panel(Norm norm, const float* x, const float* weight, std::size_t features, float epsilon, float* out) {
  const D d;
  const V share = hn::Set(d, 1 / static_cast<float>(features));
  for (std::size_t c = 0; c < kPanel; c += kLanes) {
    V middle = hn::Zero(d);
    if (norm == Norm::layer) middle = hn::Mul(sum_over(x + c, features, [&](V v) HWY_ATTR { return v; }), share);
    const V squares = sum_over(x + c, features, [&](V v) HWY_ATTR {
      const V off = hn::Sub(v, middle);
      return hn::Mul(off, off);
    });
    const V factor = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(hn::Add(hn::Mul(squares, share), hn::Set(d, epsilon))));
    for (std::size_t f = 0; f < features; ++f) {
      V value = hn::Mul(hn::Sub(hn::LoadU(d, x + f * kPanel + c), middle), factor);
      if (weight != nullptr) value = hn::Mul(value, hn::Set(d, weight[f]));
      hn::StoreU(value, d, out + f * kPanel + c);
    }
  }
}

void add_scaled_panel(const float* x, float factor, std::size_t features, float* y) {
  const D d;
  const V by = hn::Set(d, factor);
  for_each_vector(y, features, [&](std::size_t i, V v) HWY_ATTR { return hn::MulAdd(hn::LoadU(d, x + i), by, v); });
}

void scale_panel(float* x, float factor, std::size_t features) {
  const V by = hn::Set(D(), factor);
  for_each_vector(x, features, [&](std::size_t, V v) HWY_ATTR { return hn::Mul(v, by); });
}

void scale_each_token(float* x, const float* factors, std::size_t features) {
  const D d;
  for_each_vector(x, features,
                  [&](std::size_t i, V v) HWY_ATTR { return hn::Mul(v, hn::LoadU(d, factors + i % kPanel)); });
}

void divide_each_token(float* x, const float* divisors, std::size_t features) {
  const D d;
  for_each_vector(x, features,
                  [&](std::size_t i, V v) HWY_ATTR { return hn::Div(v, hn::LoadU(d, divisors + i % kPanel)); });
}

void add_bias_panel(float* x, const float* bias, std::size_t features) {
  const D d;
  for_each_vector(x, features, [&](std::size_t i, V v) HWY_ATTR { return hn::Add(v, hn::Set(d, bias[i / kPanel])); });
}

void clamp_panel(float* x, float most, std::size_t features) {
  const D d;
  const V high = hn::Set(d, most), low = hn::Set(d, -most);
  for_each_vector(x, features, [&](std::size_t, V v) HWY_ATTR { return hn::Min(hn::Max(v, low), high); });
}

// 1 / (1 + exp(-x)); exp stays finite.
HWY_INLINE V sigmoid(V x) {
  const D d;
  const V exponent = hn::Min(hn::Neg(x), hn::Set(d, 88.0f));
  return hn::Div(hn::Set(d, 1.0f), hn::Add(hn::Set(d, 1.0f), hn::Exp(d, exponent)));
}

void soft_cap_panel(float* x, float cap, std::size_t features) {
  const D d;
  const V by = hn::Set(d, cap), share = hn::Set(d, 1 / cap);
  for_each_vector(x, features, [&](std::size_t, V v) HWY_ATTR { return hn::Mul(hn::Tanh(d, hn::Mul(v, share)), by); });
}

void gate_panel(Gate activation, float* gate, const float* up, std::size_t features) {
  const D d;
  switch (activation) {
    case Gate::silu:
      return for_each_vector(gate, features, [&](std::size_t i, V v) HWY_ATTR {
        return hn::Mul(hn::Mul(v, sigmoid(v)), hn::LoadU(d, up + i));
      });
    case Gate::gelu_tanh:
      // x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3) is x * sigmoid(2u).
      return for_each_vector(gate, features, [&](std::size_t i, V v) HWY_ATTR {
        const V cubic = hn::MulAdd(hn::Mul(hn::Mul(v, v), hn::Set(d, 0.044715f)), v, v);
        return hn::Mul(hn::Mul(v, sigmoid(hn::Mul(cubic, hn::Set(d, 1.5957691216057308f)))), hn::LoadU(d, up + i));
      });
    case Gate::gelu:
      for (std::size_t i = 0; i < features * kPanel; ++i)
        gate[i] = static_cast<float>(0.5 * gate[i] * (1 + std::erf(gate[i] * 0.70710678118654752440))) * up[i];
      return;
    case Gate::relu:
      return for_each_vector(gate, features, [&](std::size_t i, V v) HWY_ATTR {
        return hn::Mul(hn::Max(v, hn::Zero(d)), hn::LoadU(d, up + i));
      });
  }
}

void clamped_gate_panel(float sharpness, float limit, float* gate, const float* up, std::size_t features) {
  const D d;
  const V by = hn::Set(d, sharpness), high = hn::Set(d, limit), low = hn::Set(d, -limit), one = hn::Set(d, 1.0f);
  for_each_vector(gate, features, [&](std::size_t i, V v) HWY_ATTR {
    const V g = hn::Min(v, high), u = hn::Min(hn::Max(hn::LoadU(d, up + i), low), high);
    return hn::Mul(hn::Mul(g, sigmoid(hn::Mul(g, by))), hn::Add(u, one));
  });
}

void scale_by_sigmoid_panel(float* x, const float* logits, std::size_t features) {
  const D d;
  HWY_ALIGN float shares[kPanel];
  for (std::size_t c = 0; c < kPanel; c += kLanes) hn::StoreU(sigmoid(hn::LoadU(d, logits + c)), d, shares + c);
  scale_each_token(x, shares, features);
}

void rotate_head(float* head, const float* cosines, const float* sines, std::size_t pairs) {
  const D d;
  for (std::size_t i = 0; i < pairs * kPanel; i += kLanes) {
    float* const low = head + i;
    float* const high = head + pairs * kPanel + i;
    const V a = hn::LoadU(d, low), b = hn::LoadU(d, high), c = hn::LoadU(d, cosines + i), s = hn::LoadU(d, sines + i);
    hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), d, low);
    hn::StoreU(hn::MulAdd(b, c, hn::Mul(a, s)), d, high);
  }
}

void rotate_neighbour_pairs(float* head, const float* cosines, const float* sines, std::size_t pairs) {
  const D d;
  for (std::size_t pair = 0; pair < pairs; ++pair)
    for (std::size_t i = 0; i < kPanel; i += kLanes) {
      float* const low = head + 2 * pair * kPanel + i;
      float* const high = low + kPanel;
      const std::size_t at = pair * kPanel + i;
      const V a = hn::LoadU(d, low), b = hn::LoadU(d, high), c = hn::LoadU(d, cosines + at),
              s = hn::LoadU(d, sines + at);
      hn::StoreU(hn::Sub(hn::Mul(a, c), hn::Mul(b, s)), d, low);
      hn::StoreU(hn::MulAdd(b, c, hn::Mul(a, s)), d, high);
    }
}

void soften_scores(float* scores, std::size_t keys, const Mask& mask, float* sums) {
  const D d;
  const V hidden = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::size_t c = 0; c < kPanel; c += kLanes) {
    const V sink = hn::Set(d, mask.sink);
    V most = sink;
    // Keys that all queries see need no comparison.
    const std::size_t last_query = mask.first_query + kPanel - 1;
    for (std::size_t k = 0; k < keys; ++k) {
      const std::size_t key = mask.first_key + k;
      V score = hn::LoadU(d, scores + k * kPanel + c);
      if (key > mask.first_query || (mask.window != 0 && key + mask.window <= last_query)) {
        HWY_ALIGN float values[kLanes];
        hn::Store(score, d, values);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const std::size_t query = mask.first_query + c + lane;
          if (key > query || (mask.window != 0 && key + mask.window <= query))
            values[lane] = -std::numeric_limits<float>::infinity();
        }
        score = hn::Load(d, values);
        hn::StoreU(score, d, scores + k * kPanel + c);
      }
      most = hn::Max(most, score);
    }
    V total = hn::IfThenElseZero(hn::Gt(sink, hidden), hn::Exp(d, hn::Max(hn::Sub(sink, most), hn::Set(d, -87.0f))));
    for (std::size_t k = 0; k < keys; ++k) {
      float* const at = scores + k * kPanel + c;
      const V score = hn::LoadU(d, at);
      // exp of a very small number is not exactly 0 in every implementation.
      const V weight =
          hn::IfThenElseZero(hn::Gt(score, hidden), hn::Exp(d, hn::Max(hn::Sub(score, most), hn::Set(d, -87.0f))));
      hn::StoreU(weight, d, at);
      total = hn::Add(total, weight);
    }
    hn::StoreU(total, d, sums + c);
  }
}

// The sum over `count` vectors as doubles: in f32 over a few hundred, which no large number of terms makes inexact.
template <typename Function>
HWY_INLINE void sum_in_blocks(std::size_t count, double* sums, const Function& function) {
  constexpr std::size_t kBlock = 256;
  const D d;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    V sum = hn::Zero(d);
    for (std::size_t i = begin; i < std::min(begin + kBlock, count); ++i) sum = hn::Add(sum, function(i));
    HWY_ALIGN float lanes[kLanes];
    hn::Store(sum, d, lanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += static_cast<double>(lanes[lane]);
  }
}

void log_sums_of(const float* logits, std::size_t count, float* largest, double* log_sum) {
  const D d;
  for (std::size_t c = 0; c < kPanel; c += kLanes) {
    V most = hn::LoadU(d, logits + c);
    for (std::size_t i = 1; i < count; ++i) most = hn::Max(most, hn::LoadU(d, logits + i * kPanel + c));
    hn::StoreU(most, d, largest + c);
    double sums[kLanes] = {};
    sum_in_blocks(count, sums, [&](std::size_t i) HWY_ATTR {
      return hn::Exp(d, hn::Max(hn::Sub(hn::LoadU(d, logits + i * kPanel + c), most), hn::Set(d, -87.0f)));
    });
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      log_sum[c + lane] = static_cast<double>(largest[c + lane]) + std::log(sums[lane]);
  }
}

// The five largest, best first; of equal ones, the first.
void find_top(const float* logits, std::size_t count, std::int32_t (*top)[5]) {
  for (std::size_t t = 0; t < kPanel; ++t) {
    float best[5];
    std::size_t held = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const float value = logits[i * kPanel + t];
      if (held == 5 && !(value > best[4])) continue;
      std::size_t at = held < 5 ? held++ : 4;
      for (; at > 0 && value > best[at - 1]; --at) best[at] = best[at - 1], top[t][at] = top[t][at - 1];
      best[at] = value;
      top[t][at] = static_cast<std::int32_t>(i);
    }
    for (; held < 5; ++held) top[t][held] = -1;
  }
}

void diverge_panel(const float* a, const float* b, const double* log_sum_a, const double* log_sum_b, std::size_t count,
                   Divergence& out) {
  const D d;
  for (std::size_t c = 0; c < kPanel; c += kLanes) {
    HWY_ALIGN float sum_a[kLanes], sum_b[kLanes], shift[kLanes];
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sum_a[lane] = static_cast<float>(log_sum_a[c + lane]);
      sum_b[lane] = static_cast<float>(log_sum_b[c + lane]);
      shift[lane] = static_cast<float>(log_sum_b[c + lane] - log_sum_a[c + lane]);
    }
    const V of_a = hn::Load(d, sum_a), of_b = hn::Load(d, sum_b), shifted = hn::Load(d, shift);
    V change = hn::Zero(d);
    double sums[kLanes] = {};
    sum_in_blocks(count, sums, [&](std::size_t i) HWY_ATTR {
      const V x = hn::LoadU(d, a + i * kPanel + c), y = hn::LoadU(d, b + i * kPanel + c);
      // log p - log q; the difference of two close logits is exact.
      const V ratio = hn::Add(hn::Sub(x, y), shifted);
      const V p = hn::Exp(d, hn::Max(hn::Sub(x, of_a), hn::Set(d, -87.0f)));
      const V q = hn::Exp(d, hn::Max(hn::Sub(y, of_b), hn::Set(d, -87.0f)));
      // p (exp(-r) - 1 + r) sums to the same as p r, since both sum to 1, and is never negative: nothing cancels. For
      // small r, its series.
      const V small =
          hn::Mul(hn::Mul(ratio, ratio),
                  hn::MulAdd(ratio,
                             hn::MulAdd(ratio, hn::MulAdd(ratio, hn::Set(d, -1.0f / 120), hn::Set(d, 1.0f / 24)),
                                        hn::Set(d, -1.0f / 6)),
                             hn::Set(d, 0.5f)));
      const V near = hn::Sub(hn::MulAdd(p, ratio, q), p);
      change = hn::Max(change, hn::Abs(hn::Sub(p, q)));
      return hn::IfThenElse(hn::Lt(hn::Abs(ratio), hn::Set(d, 0.1f)), hn::Mul(p, small), near);
    });
    hn::StoreU(change, d, out.change + c);
    for (std::size_t lane = 0; lane < kLanes; ++lane) out.kl[c + lane] = sums[lane];
  }
  find_top(a, count, out.top_a);
  find_top(b, count, out.top_b);
}

}  // namespace
}  // namespace tare::run::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace tare::run {
namespace {

HWY_EXPORT(are_finite);
HWY_EXPORT(normalize_panel);
HWY_EXPORT(add_scaled_panel);
HWY_EXPORT(scale_panel);
HWY_EXPORT(scale_each_token);
HWY_EXPORT(divide_each_token);
HWY_EXPORT(add_bias_panel);
HWY_EXPORT(clamp_panel);
HWY_EXPORT(soft_cap_panel);
HWY_EXPORT(gate_panel);
HWY_EXPORT(clamped_gate_panel);
HWY_EXPORT(scale_by_sigmoid_panel);
HWY_EXPORT(rotate_head);
HWY_EXPORT(rotate_neighbour_pairs);
HWY_EXPORT(soften_scores);
HWY_EXPORT(log_sums_of);
HWY_EXPORT(diverge_panel);

}  // namespace

bool all_finite(const float* values, std::size_t count) { return HWY_DYNAMIC_DISPATCH(are_finite)(values, count); }
void normalize(Norm norm, const float* x, const float* weight, std::size_t features, float epsilon, float* out) {
  HWY_DYNAMIC_DISPATCH(normalize_panel)(norm, x, weight, features, epsilon, out);
}
void add_scaled(const float* x, float factor, std::size_t features, float* y) {
  HWY_DYNAMIC_DISPATCH(add_scaled_panel)(x, factor, features, y);
}
void scale(float* x, float factor, std::size_t features) { HWY_DYNAMIC_DISPATCH(scale_panel)(x, factor, features); }
void scale_tokens(float* x, const float* factors, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(scale_each_token)(x, factors, features);
}
void add_bias(float* x, const float* bias, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(add_bias_panel)(x, bias, features);
}
void clamp(float* x, float most, std::size_t features) { HWY_DYNAMIC_DISPATCH(clamp_panel)(x, most, features); }
void soft_cap(float* x, float cap, std::size_t features) { HWY_DYNAMIC_DISPATCH(soft_cap_panel)(x, cap, features); }
void apply_gate(Gate activation, float* gate, const float* up, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(gate_panel)(activation, gate, up, features);
}
void apply_clamped_gate(float sharpness, float limit, float* gate, const float* up, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(clamped_gate_panel)(sharpness, limit, gate, up, features);
}
void scale_by_sigmoid(float* x, const float* logits, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(scale_by_sigmoid_panel)(x, logits, features);
}
void rotate(float* head, const float* cosines, const float* sines, std::size_t pairs) {
  HWY_DYNAMIC_DISPATCH(rotate_head)(head, cosines, sines, pairs);
}
void rotate_neighbours(float* head, const float* cosines, const float* sines, std::size_t pairs) {
  HWY_DYNAMIC_DISPATCH(rotate_neighbour_pairs)(head, cosines, sines, pairs);
}
void soften(float* scores, std::size_t keys, const Mask& mask, float* sums) {
  HWY_DYNAMIC_DISPATCH(soften_scores)(scores, keys, mask, sums);
}
void divide_tokens(float* x, const float* divisors, std::size_t features) {
  HWY_DYNAMIC_DISPATCH(divide_each_token)(x, divisors, features);
}
void log_sums(const float* logits, std::size_t count, float* largest, double* log_sum) {
  HWY_DYNAMIC_DISPATCH(log_sums_of)(logits, count, largest, log_sum);
}
void diverge(const float* a, const float* b, const double* log_sum_a, const double* log_sum_b, std::size_t count,
             Divergence& out) {
  HWY_DYNAMIC_DISPATCH(diverge_panel)(a, b, log_sum_a, log_sum_b, count, out);
}

}  // namespace tare::run

#endif
