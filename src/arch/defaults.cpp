// Facts of transformers 5.23: the classes of its configurations.
#include "arch/defaults.hpp"

#include <algorithm>
#include <array>

namespace tare::arch {
namespace {

struct AssumedRow {
  std::string_view model_type;
  Assumed fact;
};

constexpr std::int64_t whole(std::int64_t number) { return number; }

// clang-format off
constexpr AssumedRow kAssumed[] = {
    {"llama", {"max_position_embeddings", whole(2048)}},
    {"llama", {"rms_norm_eps", 1e-6}},
    {"llama", {"rope_theta", 10000.0}},
    {"mistral", {"max_position_embeddings", whole(131072)}},
    {"mistral", {"num_key_value_heads", whole(8)}},
    {"mistral", {"rms_norm_eps", 1e-6}},
    {"mistral", {"rope_theta", 10000.0}},
    {"mistral", {"sliding_window", whole(4096)}},
    {"mixtral", {"max_position_embeddings", whole(131072)}},
    {"mixtral", {"num_key_value_heads", whole(8)}},
    {"mixtral", {"rms_norm_eps", 1e-5}},
    {"mixtral", {"rope_theta", 1000000.0}},
    {"mixtral", {"num_local_experts", whole(8)}},
    {"mixtral", {"num_experts_per_tok", whole(2)}},
    {"ministral3", {"max_position_embeddings", whole(262144)}},
    {"ministral3", {"num_key_value_heads", whole(8)}},
    {"ministral3", {"head_dim", whole(128)}},
    {"ministral3", {"rms_norm_eps", 1e-5}},
    {"ministral3", {"rope_theta", 10000.0}},  // for a rope_parameters without one
    {"ministral3", {"rope_parameters.rope_type", std::string_view("yarn")}},
    {"ministral3", {"rope_parameters.rope_theta", 1000000.0}},
    {"ministral3", {"rope_parameters.factor", 16.0}},
    {"ministral3", {"rope_parameters.original_max_position_embeddings", whole(16384)}},
    {"ministral3", {"rope_parameters.beta_fast", 32.0}},
    {"ministral3", {"rope_parameters.beta_slow", 1.0}},
    {"ministral3", {"rope_parameters.mscale_all_dim", 1.0}},
    {"ministral3", {"rope_parameters.mscale", 1.0}},
    {"ministral3", {"rope_parameters.llama_4_scaling_beta", 0.1}},
    {"smollm3", {"max_position_embeddings", whole(32768)}},
    {"smollm3", {"num_key_value_heads", whole(4)}},
    {"smollm3", {"rms_norm_eps", 1e-6}},
    {"smollm3", {"rope_theta", 2000000.0}},
    {"smollm3", {"use_sliding_window", false}},
    {"smollm3", {"no_rope_layer_interval", whole(4)}},
    {"granite", {"max_position_embeddings", whole(2048)}},
    {"granite", {"rms_norm_eps", 1e-6}},
    {"granite", {"rope_theta", 10000.0}},
    {"granite", {"embedding_multiplier", 1.0}},
    {"granite", {"logits_scaling", 1.0}},
    {"granite", {"residual_multiplier", 1.0}},
    {"granite", {"attention_multiplier", 1.0}},
    {"olmo", {"max_position_embeddings", whole(2048)}},
    {"olmo", {"rope_theta", 10000.0}},
    {"olmo2", {"max_position_embeddings", whole(2048)}},
    {"olmo2", {"rms_norm_eps", 1e-5}},
    {"olmo2", {"rope_theta", 10000.0}},
    {"olmo3", {"max_position_embeddings", whole(2048)}},
    {"olmo3", {"rms_norm_eps", 1e-5}},
    {"olmo3", {"rope_theta", 500000.0}},
    {"olmo3", {"rope_local_base_freq", 500000.0}},
    {"olmo3", {"sliding_window", whole(4096)}},
    {"qwen2", {"max_position_embeddings", whole(32768)}},
    {"qwen2", {"num_key_value_heads", whole(32)}},
    {"qwen2", {"rms_norm_eps", 1e-6}},
    {"qwen2", {"rope_theta", 10000.0}},
    {"qwen2", {"use_sliding_window", false}},
    {"qwen2", {"sliding_window", whole(4096)}},
    {"qwen2", {"max_window_layers", whole(28)}},
    {"qwen2_moe", {"max_position_embeddings", whole(32768)}},
    {"qwen2_moe", {"num_key_value_heads", whole(16)}},
    {"qwen2_moe", {"rms_norm_eps", 1e-6}},
    {"qwen2_moe", {"rope_theta", 10000.0}},
    {"qwen2_moe", {"use_sliding_window", false}},
    {"qwen2_moe", {"sliding_window", whole(4096)}},
    {"qwen2_moe", {"max_window_layers", whole(28)}},
    {"qwen2_moe", {"num_experts", whole(60)}},
    {"qwen2_moe", {"num_experts_per_tok", whole(4)}},
    {"qwen2_moe", {"moe_intermediate_size", whole(1408)}},
    {"qwen2_moe", {"shared_expert_intermediate_size", whole(5632)}},
    {"qwen2_moe", {"norm_topk_prob", false}},
    {"qwen3", {"max_position_embeddings", whole(32768)}},
    {"qwen3", {"num_key_value_heads", whole(32)}},
    {"qwen3", {"head_dim", whole(128)}},
    {"qwen3", {"rms_norm_eps", 1e-6}},
    {"qwen3", {"rope_theta", 10000.0}},
    {"qwen3", {"use_sliding_window", false}},
    {"qwen3", {"sliding_window", whole(4096)}},
    {"qwen3", {"max_window_layers", whole(28)}},
    {"qwen3_moe", {"max_position_embeddings", whole(32768)}},
    {"qwen3_moe", {"num_key_value_heads", whole(4)}},
    {"qwen3_moe", {"rms_norm_eps", 1e-6}},
    {"qwen3_moe", {"rope_theta", 10000.0}},
    {"qwen3_moe", {"use_sliding_window", false}},
    {"qwen3_moe", {"sliding_window", whole(4096)}},
    {"qwen3_moe", {"num_experts", whole(128)}},
    {"qwen3_moe", {"num_experts_per_tok", whole(8)}},
    {"qwen3_moe", {"moe_intermediate_size", whole(768)}},
    {"qwen3_moe", {"norm_topk_prob", false}},
    {"gemma", {"max_position_embeddings", whole(8192)}},
    {"gemma", {"num_key_value_heads", whole(16)}},
    {"gemma", {"head_dim", whole(256)}},
    {"gemma", {"rms_norm_eps", 1e-6}},
    {"gemma", {"rope_theta", 10000.0}},
    {"gemma2", {"max_position_embeddings", whole(8192)}},
    {"gemma2", {"num_key_value_heads", whole(4)}},
    {"gemma2", {"head_dim", whole(256)}},
    {"gemma2", {"rms_norm_eps", 1e-6}},
    {"gemma2", {"rope_theta", 10000.0}},
    {"gemma2", {"sliding_window", whole(4096)}},
    {"gemma2", {"query_pre_attn_scalar", whole(256)}},
    {"gemma2", {"attn_logit_softcapping", 50.0}},
    {"gemma2", {"final_logit_softcapping", 30.0}},
    {"gemma3_text", {"max_position_embeddings", whole(131072)}},
    {"gemma3_text", {"num_attention_heads", whole(8)}},
    {"gemma3_text", {"num_key_value_heads", whole(4)}},
    {"gemma3_text", {"head_dim", whole(256)}},
    {"gemma3_text", {"rms_norm_eps", 1e-6}},
    {"gemma3_text", {"rope_theta", 1000000.0}},
    {"gemma3_text", {"rope_local_base_freq", 10000.0}},
    {"gemma3_text", {"sliding_window", whole(4096)}},
    {"gemma3_text", {"query_pre_attn_scalar", whole(256)}},
    {"phi3", {"max_position_embeddings", whole(4096)}},
    {"phi3", {"original_max_position_embeddings", whole(4096)}},
    {"phi3", {"rms_norm_eps", 1e-5}},
    {"phi3", {"rope_theta", 10000.0}},
};
// clang-format on

// The facts alone, so that those of one type are a span.
constexpr auto kFacts = [] {
  std::array<Assumed, std::size(kAssumed)> facts;
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = kAssumed[i].fact;
  return facts;
}();

// Models of several parts assume the type of their language, and llama.cpp has a name of its own for one that makes vectors.
std::string_view language_type(std::string_view model_type) {
  if (model_type == "gemma3" || model_type == "gemma-embedding") return "gemma3_text";
  return model_type == "mistral3" ? "mistral" : model_type;
}

}  // namespace

std::span<const Assumed> assumed_keys(std::string_view model_type) {
  const std::string_view type = language_type(model_type);
  const auto of_type = [&](const AssumedRow& row) { return row.model_type == type; };
  const auto first = std::ranges::find_if(kAssumed, of_type);
  const auto last = std::find_if_not(first, std::end(kAssumed), of_type);
  return std::span(kFacts).subspan(static_cast<std::size_t>(first - std::begin(kAssumed)),
                                   static_cast<std::size_t>(last - first));
}

bool has_ropes_by_layer(std::string_view model_type) {
  return std::ranges::any_of(assumed_keys(model_type),
                             [](const Assumed& fact) { return fact.key == "rope_local_base_freq"; });
}

}  // namespace tare::arch
