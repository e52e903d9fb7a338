// Layers without attention: a short convolution along the text and the gated delta rule, token by token. The scorer passes
// all tokens of a text through it, the session one after the other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/plan.hpp"

namespace tare::run {

// The weights of a layer that are used element by element.
struct StateParts {
  std::vector<float> convolution;            // [channels][tokens]
  std::vector<float> step_bias, rate, norm;  // rate: the logarithm of what decays
  float epsilon = 0;
};
StateParts state_parts(const StateWeights& weights, const std::string& place, float epsilon);

// What a token brings to a head of keys and the heads of values that share it.
struct StateInput {
  const float *q = nullptr, *k = nullptr;         // `key` elements; of a convolution alone: `value`
  const float *v = nullptr, *gate = nullptr;      // [shared][value]
  const float *step = nullptr, *share = nullptr;  // [shared]
};

// One head of keys, with its state after the tokens so far.
class StateHead {
 public:
  // `sizes` and `parts` must outlive it.
  StateHead(const StateSizes& sizes, const StateParts& parts, std::size_t number);

  // Advances by one token. `out`: [shared][value].
  void step(const StateInput& input, float* out);

 private:
  void convolve();
  void advance(std::size_t which, const StateInput& input, float* out);
  std::size_t channel_of(std::size_t i) const;

  const StateSizes* sizes_;
  const StateParts* parts_;
  std::size_t number_, key_, value_, shared_, kept_;
  std::vector<float> recent_;    // [kept][channels of the head]: what the convolution saw last, oldest first
  std::vector<float> matrices_;  // [shared][key][value]
  std::vector<float> row_, read_;
};

}  // namespace tare::run
