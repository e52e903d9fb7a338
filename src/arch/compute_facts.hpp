// What the classes of transformers compute that no key of config.json states, where those of one family differ: a row for
// each model_type. Only running a model needs these facts.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tare::arch {

struct ComputeFacts {
  std::string_view model_type;
  bool scales_embeddings = false;   // multiplies the embeddings of tokens by the square root of hidden_size
  bool alternates_windows = false;  // every other layer before max_window_layers has a window, beginning with the first
};

inline constexpr ComputeFacts kComputeFacts[] = {
    {.model_type = "gemma", .scales_embeddings = true},
    {.model_type = "gemma2", .scales_embeddings = true},
    {.model_type = "gemma3_text", .scales_embeddings = true},
    {.model_type = "qwen2_moe", .alternates_windows = true},
};

// The row of a model_type; for others, a row with the defaults above.
constexpr ComputeFacts compute_facts_of(std::string_view model_type) {
  const auto* const found = std::ranges::find(kComputeFacts, model_type, &ComputeFacts::model_type);
  return found == std::end(kComputeFacts) ? ComputeFacts{} : *found;
}

}  // namespace tare::arch
