// Arithmetic on panels, with the best SIMD of the processor.
//
// A panel holds 32 tokens: for each feature the values of the 32 tokens, one after another. Every step of a transformer
// then works on whole vectors of tokens, whatever the sizes of the model: a product with a weight matrix takes the
// elements of the matrix one by one and multiplies them with vectors of the panel; norms, rotary positions and the
// softmax need no sums across a vector.
//
// Results depend on the SIMD target of the processor, not on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tare::run {

inline constexpr std::size_t kPanel = 32;  // tokens

// y[r] += sum of w[r * stride + k] * x[k] over k in [0, depth), for r in [0, rows): x and y are panels. Each
// sum starts at zero and is added to y at the end.
void add_product(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y);
// The same, but overwrites y.
void set_product(const float* w, std::size_t stride, std::size_t rows, std::size_t depth, const float* x, float* y);
// As add_product, with the matrix w[k * kPanel + r]: the features of a panel as columns. `rows` is at most kPanel.
void add_transposed(const float* w, std::size_t rows, std::size_t depth, const float* x, float* y);

// Whether all are finite.
bool all_finite(const float* values, std::size_t count);

enum class Norm : std::uint8_t { rms, layer };
// out[f] = x[f] normalized over the features, times weight[f] (null: 1).
void normalize(Norm norm, const float* x, const float* weight, std::size_t features, float epsilon, float* out);
// y[f] += x[f] * scale.
void add_scaled(const float* x, float scale, std::size_t features, float* y);
void scale(float* x, float factor, std::size_t features);
// x[f][t] *= factors[t].
void scale_tokens(float* x, const float* factors, std::size_t features);
// x[f] += bias[f].
void add_bias(float* x, const float* bias, std::size_t features);
void clamp(float* x, float most, std::size_t features);
// x = cap * tanh(x / cap).
void soft_cap(float* x, float cap, std::size_t features);

enum class Gate : std::uint8_t { silu, gelu_tanh, gelu, relu };
// gate[f] = activation(gate[f]) * up[f].
void apply_gate(Gate activation, float* gate, const float* up, std::size_t features);
// gate[f] = g * sigmoid(sharpness * g) * (u + 1): g is gate[f], at most `limit`; u is up[f], clamped to it.
void apply_clamped_gate(float sharpness, float limit, float* gate, const float* up, std::size_t features);
// x[f] *= sigmoid(logits[0]), token by token.
void scale_by_sigmoid(float* x, const float* logits, std::size_t features);

// Rotates pairs of a head: (i, i + pairs) for i in [0, pairs), by the angles whose cosines and sines are given as
// [pairs][kPanel].
void rotate(float* head, const float* cosines, const float* sines, std::size_t pairs);
// The same for the pairs (2 i, 2 i + 1).
void rotate_neighbours(float* head, const float* cosines, const float* sines, std::size_t pairs);

// Scores of 32 queries for the keys [first_key, first_key + keys) become weights exp(score - largest); `sums` receives
// the sum for each query. A query sees the keys up to its own position, and if there is a window, only that many of
// them.
struct Mask {
  std::size_t first_query, first_key, window;  // positions; window 0: none
  // The score of looking at no key at all, which counts in the sums only.
  float sink = -std::numeric_limits<float>::infinity();
};
void soften(float* scores, std::size_t keys, const Mask& mask, float* sums);
// x[f][t] /= divisors[t].
void divide_tokens(float* x, const float* divisors, std::size_t features);

// For each token: the largest of the logits and the logarithm of the sum of their exponentials.
void log_sums(const float* logits, std::size_t count, float* largest, double* log_sum);

// What two distributions of the next token have in common: for each token of the panel.
struct Divergence {
  double kl[kPanel];              // KL(a || b), in nats
  float change[kPanel];           // the largest difference of a probability
  std::int32_t top_a[kPanel][5];  // the most probable tokens, best first
  std::int32_t top_b[kPanel][5];
};
// `count` logits of each model; the log sums are those of log_sums().
void diverge(const float* a, const float* b, const double* log_sum_a, const double* log_sum_b, std::size_t count,
             Divergence& out);

}  // namespace tare::run
