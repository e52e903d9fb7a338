// What the classes of transformers compute that no key of config.json states: a row for each model_type that src/run
// computes. A type gets its row when its logits have been compared with those of transformers (tests/real/run.py); a type
// without a row is refused, because its names and sizes alone do not determine what it computes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tare::arch {

// How the numbers that a router computes become the weights of experts: over all of them, each by itself, or over those
// that have been chosen.
enum class RouterScores : std::uint8_t { softmax, sigmoid, softmax_of_chosen };

struct ComputeFacts {
  std::string_view model_type;
  bool scales_embeddings = false;   // multiplies the embeddings of tokens by the square root of hidden_size
  bool alternates_windows = false;  // every other layer before max_window_layers has a window, beginning with the first
  // Rotary positions turn pairs of neighbours, unless config.json has rope_interleave and it is false.
  bool rotates_neighbours = false;
  RouterScores router = RouterScores::softmax;
  // If experts are chosen in groups: how many of the best of a group count.
  std::size_t best_of_group = 1;
  // The epsilon of the norms of the short vectors of latent attention, which config.json does not state.
  double latent_epsilon = 0;
  // Experts clamp their gate to swiglu_limit, and sharpen it by swiglu_alpha.
  bool clamps_gate = false;
};

inline constexpr ComputeFacts kComputeFacts[] = {
    {.model_type = "deepseek_v2", .rotates_neighbours = true, .latent_epsilon = 1e-6},
    {.model_type = "deepseek_v3",
     .rotates_neighbours = true,
     .router = RouterScores::sigmoid,
     .best_of_group = 2,
     .latent_epsilon = 1e-6},
    {.model_type = "gemma", .scales_embeddings = true},
    {.model_type = "gemma2", .scales_embeddings = true},
    {.model_type = "gemma3_text", .scales_embeddings = true},
    {.model_type = "glm4", .rotates_neighbours = true},
    {.model_type = "gpt_oss", .router = RouterScores::softmax_of_chosen, .clamps_gate = true},
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
