// What the classes of transformers compute that no key of config.json states: a row for each model_type that src/run
// computes. A type gets its row when its logits have been compared with those of transformers (tests/real/run.py); a type
// without a row is refused, because its names and sizes alone do not determine what it computes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tare::arch {

// How the numbers that a router computes become the weights of experts: over all of them, each by itself, or over those
// that have been chosen.
enum class RouterScores : std::uint8_t { softmax, sigmoid, softmax_of_chosen };

// A key that must have this value, if config.json has it: nothing else is computed.
struct Required {
  std::string_view key = {};
  bool value = false;
};

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
  // Attention and feed-forward network get the same hidden states, and their results are added together.
  bool is_parallel = false;
  bool norms_after_rotation = false;  // the norms of queries and keys
  bool clamps_after_norm = false;     // queries and keys are clamped after their norms, not before
  bool rotates_in_windows = false;    // if there are windows, layers without one have no rotary positions
  bool biases_choice = false;         // a router without sigmoid has a bias for the choice alone
  std::array<Required, 3> required = {};
};

inline constexpr ComputeFacts kComputeFacts[] = {
    {.model_type = "arcee"},
    {.model_type = "cohere", .rotates_neighbours = true, .is_parallel = true, .required = {{{"use_qk_norm", false}}}},
    {.model_type = "cohere2", .rotates_neighbours = true, .is_parallel = true, .rotates_in_windows = true},
    {.model_type = "deepseek_v2", .rotates_neighbours = true, .latent_epsilon = 1e-6},
    {.model_type = "deepseek_v3",
     .rotates_neighbours = true,
     .router = RouterScores::sigmoid,
     .best_of_group = 2,
     .latent_epsilon = 1e-6},
    {.model_type = "dots1", .router = RouterScores::sigmoid, .best_of_group = 2},
    {.model_type = "ernie4_5", .rotates_neighbours = true},
    {.model_type = "ernie4_5_moe", .rotates_neighbours = true, .biases_choice = true},
    {.model_type = "exaone4", .rotates_in_windows = true},
    {.model_type = "gemma", .scales_embeddings = true},
    {.model_type = "gemma2", .scales_embeddings = true},
    {.model_type = "gemma3_text", .scales_embeddings = true},
    {.model_type = "glm4", .rotates_neighbours = true},
    {.model_type = "glm4_moe", .router = RouterScores::sigmoid, .best_of_group = 2},
    {.model_type = "glm4_moe_lite",
     .rotates_neighbours = true,
     .router = RouterScores::sigmoid,
     .best_of_group = 2,
     .latent_epsilon = 1e-6},
    {.model_type = "gpt2", .required = {{{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}}}},
    {.model_type = "gpt_neox"},
    {.model_type = "gpt_oss", .router = RouterScores::softmax_of_chosen, .clamps_gate = true},
    {.model_type = "granite"},
    {.model_type = "granitemoe", .router = RouterScores::softmax_of_chosen},
    {.model_type = "hunyuan_v1_dense", .norms_after_rotation = true},
    {.model_type = "jais2"},
    {.model_type = "kimi_k2",
     .rotates_neighbours = true,
     .router = RouterScores::sigmoid,
     .best_of_group = 2,
     .latent_epsilon = 1e-6},
    {.model_type = "lfm2"},
    {.model_type = "llama"},
    {.model_type = "minimax_m2", .router = RouterScores::sigmoid},
    {.model_type = "ministral3"},
    {.model_type = "mistral"},
    {.model_type = "mixtral"},
    {.model_type = "nemotron"},
    {.model_type = "olmo"},
    {.model_type = "olmo2"},
    {.model_type = "olmo3"},
    {.model_type = "olmoe", .clamps_after_norm = true},
    {.model_type = "phi", .is_parallel = true, .required = {{{"qk_layernorm", false}}}},
    {.model_type = "phi3"},
    {.model_type = "qwen2"},
    {.model_type = "qwen2_moe", .alternates_windows = true},
    {.model_type = "qwen3"},
    {.model_type = "qwen3_5_moe_text"},
    {.model_type = "qwen3_5_text"},
    {.model_type = "qwen3_moe"},
    {.model_type = "qwen3_next"},
    {.model_type = "seed_oss"},
    {.model_type = "smollm3"},
    {.model_type = "stablelm", .required = {{{"qk_layernorm", false}}}},
    {.model_type = "starcoder2"},
};

// The row of a model_type; null if it is not known what models of the type compute.
constexpr const ComputeFacts* find_compute_facts(std::string_view model_type) {
  const auto* const found = std::ranges::find(kComputeFacts, model_type, &ComputeFacts::model_type);
  return found == std::end(kComputeFacts) ? nullptr : found;
}

}  // namespace tare::arch
