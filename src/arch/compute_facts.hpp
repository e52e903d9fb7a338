// What the classes of transformers compute that no key of config.json states: a row for each model_type that src/run
// computes. A type gets its row when its logits have been compared with those of transformers (tests/real/run.py); a type
// without a row is refused, because its names and sizes alone do not determine what it computes.
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
    {.model_type = "granite"},
    {.model_type = "llama"},
    {.model_type = "ministral3"},
    {.model_type = "mistral"},
    {.model_type = "mixtral"},
    {.model_type = "olmo"},
    {.model_type = "olmo2"},
    {.model_type = "olmo3"},
    {.model_type = "phi3"},
    {.model_type = "qwen2"},
    {.model_type = "qwen2_moe", .alternates_windows = true},
    {.model_type = "qwen3"},
    {.model_type = "qwen3_moe"},
    {.model_type = "smollm3"},
};

// The row of a model_type; null if it is not known what models of the type compute.
constexpr const ComputeFacts* find_compute_facts(std::string_view model_type) {
  const auto* const found = std::ranges::find(kComputeFacts, model_type, &ComputeFacts::model_type);
  return found == std::end(kComputeFacts) ? nullptr : found;
}

}  // namespace tare::arch
