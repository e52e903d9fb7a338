// Chooses the next token from logits.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tare/export.hpp"

namespace tiny_llama {

struct Sampling {
  float temperature = 0;    // 0: greedy, the most likely token (the first if there are several)
  std::uint32_t top_k = 0;  // use only the k most likely tokens; 0: all
  float top_p = 1;          // use only the most likely tokens that together reach this probability
  std::uint64_t seed = 0;
};

// The same sampling and logits give the same tokens. Not thread-safe.
class TARE_API Sampler {
 public:
  // Throws tare::Error `tllm.sampler.temperature` or `tllm.sampler.top_p` for an invalid value.
  explicit Sampler(const Sampling& sampling = {});
  // Returns the next token, an index into `logits`. Throws `tllm.run.nan` if all of them are NaN.
  std::int32_t next(std::span<const float> logits);

 private:
  double uniform();

  Sampling sampling_;
  std::uint64_t state_;
  std::vector<std::pair<float, std::int32_t>> candidates_;
  std::vector<double> weights_;
};

}  // namespace tiny_llama
