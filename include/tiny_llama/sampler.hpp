// Choosing the next token from logits.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tare/export.hpp"

namespace tiny_llama {

struct Sampling {
  float temperature = 0;    // 0: greedy, the most likely token (of equals the first)
  std::uint32_t top_k = 0;  // only the k most likely; 0: all
  float top_p = 1;          // only the most likely that together reach this probability
  std::uint64_t seed = 0;
};

// The same sampling and logits give the same tokens. Not for several threads at once.
class TARE_API Sampler {
 public:
  // Throws tare::Error `tllm.sampler.temperature` or `tllm.sampler.top_p` for a value that makes no sense.
  explicit Sampler(const Sampling& sampling = {});
  // The next token: an index into `logits`. Throws `tllm.run.nan` when none of them is a number.
  std::int32_t next(std::span<const float> logits);

 private:
  double uniform();

  Sampling sampling_;
  std::uint64_t state_;
  std::vector<std::pair<float, std::int32_t>> candidates_;
  std::vector<double> weights_;
};

}  // namespace tiny_llama
