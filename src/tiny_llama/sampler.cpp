#include "tiny_llama/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/splitmix64.hpp"
#include "tare/error.hpp"

namespace tiny_llama {
namespace {

using tare::Error;
using tare::ErrorKind;

// More likely first; among equals the lower token, so that the result does not depend on the sort algorithm.
bool more_likely(const std::pair<float, std::int32_t>& a, const std::pair<float, std::int32_t>& b) {
  return a.first != b.first ? a.first > b.first : a.second < b.second;
}

}  // namespace

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling), state_(sampling.seed) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    throw Error(ErrorKind::usage, "tllm.sampler.temperature",
                fmt::format("a temperature of {}; it must be finite and 0 or more", sampling.temperature));
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    throw Error(ErrorKind::usage, "tllm.sampler.top_p",
                fmt::format("top-p of {}; it must be in (0, 1]", sampling.top_p));
}

// 53 bits in [0, 1).
double Sampler::uniform() {
  state_ += tare::SplitMix64::kStep;
  return static_cast<double>(tare::SplitMix64::mixed(state_) >> 11) * 0x1p-53;
}

std::int32_t Sampler::next(std::span<const float> logits) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (!std::isnan(logits[i])) candidates_.emplace_back(logits[i], static_cast<std::int32_t>(i));
  if (candidates_.empty())
    throw Error(ErrorKind::corrupt, "tllm.run.nan",
                fmt::format("none of the {} logits is a number: the weights hold NaN or infinities", logits.size()));
  const auto best = std::min_element(candidates_.begin(), candidates_.end(), more_likely);
  // An infinite logit has all of the probability.
  if (sampling_.temperature == 0 || std::isinf(best->first)) return best->second;

  const bool all = (sampling_.top_k == 0 || sampling_.top_k >= candidates_.size()) && sampling_.top_p == 1;
  if (sampling_.top_k != 0 && sampling_.top_k < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + sampling_.top_k, candidates_.end(), more_likely);
    candidates_.resize(sampling_.top_k);
  }
  if (!all) std::sort(candidates_.begin(), candidates_.end(), more_likely);
  const double most = all ? best->first : candidates_.front().first;
  weights_.clear();
  double total = 0;
  for (const auto& [logit, token] : candidates_) {
    weights_.push_back(std::exp((double{logit} - most) / double{sampling_.temperature}));
    total += weights_.back();
  }
  if (sampling_.top_p < 1) {
    double reached = 0;
    std::size_t kept = 0;
    while (kept < weights_.size() && reached < double{sampling_.top_p} * total) reached += weights_[kept++];
    candidates_.resize(kept);
    total = reached;
  }
  double left = uniform() * total;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    left -= weights_[i];
    if (left < 0) return candidates_[i].second;
  }
  return candidates_.back().second;
}

}  // namespace tiny_llama
