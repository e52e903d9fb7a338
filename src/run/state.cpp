#include "run/state.hpp"

#include <algorithm>
#include <cmath>

namespace tare::run {
namespace {

std::size_t size_of(std::uint64_t number) { return static_cast<std::size_t>(number); }

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// log(1 + exp(x)), which is x for large ones.
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

// Divides by the square root of the sum of squares.
void normalize_sum(float* x, std::size_t count, float factor) {
  double sum = 1e-6;
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const float by = factor / static_cast<float>(std::sqrt(sum));
  for (std::size_t i = 0; i < count; ++i) x[i] *= by;
}

}  // namespace

StateParts state_parts(const StateWeights& weights, const std::string& place, float epsilon) {
  return {weights.convolution.values(place), weights.step_bias.values(place), weights.rate.values(place),
          weights.norm.values(place), epsilon};
}

StateHead::StateHead(const StateSizes& sizes, const StateParts& parts, std::size_t number)
    : sizes_(&sizes),
      parts_(&parts),
      number_(number),
      key_(size_of(sizes.key)),
      value_(size_of(sizes.value)),
      shared_(size_of(sizes.shared())),
      kept_(size_of(sizes.kernel) - 1),
      recent_(kept_ * (2 * key_ + shared_ * value_)),
      matrices_(shared_ * key_ * value_),
      row_(2 * key_ + shared_ * value_),
      read_(value_) {}

// The row of the convolution for element i of [q, k, v].
std::size_t StateHead::channel_of(std::size_t i) const {
  const std::size_t keys = size_of(sizes_->keys());
  if (i < key_) return number_ * key_ + i;
  if (i < 2 * key_) return keys + number_ * key_ + i - key_;
  return 2 * keys + number_ * shared_ * value_ + i - 2 * key_;
}

void StateHead::convolve() {
  const std::size_t count = row_.size(), kernel = kept_ + 1;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const weights = parts_->convolution.data() + channel_of(i) * kernel;
    const float now = row_[i];
    float sum = 0;
    for (std::size_t j = 0; j < kept_; ++j) sum += weights[j] * recent_[j * count + i];
    for (std::size_t j = 0; j + 1 < kept_; ++j) recent_[j * count + i] = recent_[(j + 1) * count + i];
    if (kept_ > 0) recent_[(kept_ - 1) * count + i] = now;
    row_[i] = sum + weights[kept_] * now;
  }
}

void StateHead::advance(std::size_t which, const StateInput& input, float* out) {
  const std::size_t head = number_ * shared_ + which;
  const double step = softplus(static_cast<double>(input.step[which]) + static_cast<double>(parts_->step_bias[head]));
  const auto decay = static_cast<float>(std::exp(-std::exp(static_cast<double>(parts_->rate[head])) * step));
  const float share = sigmoid(input.share[which]);
  const float *const q = row_.data(), *const k = q + key_, *const v = k + key_ + which * value_;
  float* const matrix = matrices_.data() + which * key_ * value_;
  std::ranges::fill(read_, 0.0f);
  for (std::size_t i = 0; i < key_; ++i)
    for (std::size_t j = 0; j < value_; ++j) {
      float& cell = matrix[i * value_ + j];
      cell *= decay;
      read_[j] += cell * k[i];
    }
  for (std::size_t j = 0; j < value_; ++j) read_[j] = (v[j] - read_[j]) * share;
  std::fill_n(out, value_, 0.0f);
  for (std::size_t i = 0; i < key_; ++i)
    for (std::size_t j = 0; j < value_; ++j) {
      float& cell = matrix[i * value_ + j];
      cell += k[i] * read_[j];
      out[j] += cell * q[i];
    }
  double squares = 0;
  for (std::size_t j = 0; j < value_; ++j) squares += static_cast<double>(out[j]) * static_cast<double>(out[j]);
  const auto by =
      static_cast<float>(1 / std::sqrt(squares / static_cast<double>(value_) + static_cast<double>(parts_->epsilon)));
  const float* const gate = input.gate + which * value_;
  for (std::size_t j = 0; j < value_; ++j) out[j] *= by * parts_->norm[j] * gate[j] * sigmoid(gate[j]);
}

void StateHead::step(const StateInput& input, float* out) {
  if (key_ == 0) {
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = input.q[i] * input.v[i];
    convolve();
    for (std::size_t i = 0; i < row_.size(); ++i) out[i] = row_[i] * input.k[i];
    return;
  }
  std::copy_n(input.v, shared_ * value_, std::copy_n(input.k, key_, std::copy_n(input.q, key_, row_.begin())));
  convolve();
  for (float& value : row_) value *= sigmoid(value);
  normalize_sum(row_.data(), key_, static_cast<float>(1 / std::sqrt(static_cast<double>(key_))));
  normalize_sum(row_.data() + key_, key_, 1);
  for (std::size_t which = 0; which < shared_; ++which) advance(which, input, out + which * value_);
}

}  // namespace tare::run
