#include "arch/run_settings.hpp"

#include <algorithm>
#include <iterator>

namespace tare::arch {
namespace {

using Kind = SettingKind;

constexpr std::string_view kGemmas = "gemma gemma2 gemma3_text", kLaterGemmas = "gemma2 gemma3_text",
                           kQwenMixtures = "qwen2_moe qwen3_moe",
                           kMixtures = "mixtral qwen2_moe qwen3_moe gpt_oss deepseek_v2 deepseek_v3",
                           kDeepSeeks = "deepseek_v2 deepseek_v3";

constexpr RunSetting kSettings[] = {
    {"model_type", Kind::text},
    {"vocab_size", Kind::whole},
    {"hidden_size", Kind::whole},
    {"intermediate_size", Kind::whole},
    {"num_hidden_layers", Kind::whole},
    {"num_attention_heads", Kind::whole},
    {"num_key_value_heads", Kind::whole},
    {"head_dim", Kind::whole},
    {"max_position_embeddings", Kind::whole},
    {"tie_word_embeddings", Kind::flag},
    {"is_causal", Kind::flag},
    {"rope_theta"},
    {"rope_scaling", Kind::object},
    {"rope_parameters", Kind::object},
    {"rms_norm_eps"},
    {"hidden_act", Kind::text},
    // Early Gemmas have both; which one counts depends on the program.
    {"hidden_activation", Kind::text, kGemmas},
    {"use_bidirectional_attention", Kind::any, kGemmas},
    {"attention_bias", Kind::flag,
     "gemma gemma2 gemma3_text granite llama olmo olmo2 olmo3 qwen3 qwen3_moe smollm3 deepseek_v2 deepseek_v3 glm4 "
     "gpt_oss"},
    {"mlp_bias", Kind::flag, "granite llama smollm3 deepseek_v2"},
    {"qkv_bias", Kind::flag, "qwen2_moe"},
    {"layer_types", Kind::list, "gemma2 gemma3_text olmo3 qwen2 qwen2_moe qwen3 smollm3 gpt_oss"},
    {"sliding_window", Kind::whole,
     "gemma2 gemma3_text ministral3 mistral mixtral olmo3 phi3 qwen2 qwen2_moe qwen3 qwen3_moe smollm3 gpt_oss"},
    {"use_sliding_window", Kind::flag, "qwen2 qwen2_moe qwen3 qwen3_moe smollm3"},
    {"max_window_layers", Kind::whole, "qwen2 qwen2_moe qwen3 qwen3_moe"},
    {"sliding_window_pattern", Kind::number, kLaterGemmas},
    {"_sliding_window_pattern", Kind::number, "gemma3_text"},
    {"rope_local_base_freq", Kind::number, "gemma3_text"},
    {"attn_logit_softcapping", Kind::number, kLaterGemmas},
    {"final_logit_softcapping", Kind::number, kLaterGemmas},
    {"query_pre_attn_scalar", Kind::number, kLaterGemmas},
    {"attention_multiplier", Kind::number, "granite"},
    {"embedding_multiplier", Kind::number, "granite"},
    {"logits_scaling", Kind::number, "granite"},
    {"residual_multiplier", Kind::number, "granite"},
    {"clip_qkv", Kind::number, "olmo"},
    {"original_max_position_embeddings", Kind::whole, "phi3"},
    {"partial_rotary_factor", Kind::number, "phi3 glm4"},
    {"no_rope_layers", Kind::list, "smollm3"},
    {"no_rope_layer_interval", Kind::number, "smollm3"},
    {"num_experts_per_tok", Kind::whole, kMixtures},
    {"num_experts", Kind::whole, kMixtures},
    {"num_local_experts", Kind::whole, kMixtures},
    {"norm_topk_prob", Kind::flag, kMixtures},
    {"decoder_sparse_step", Kind::whole, kQwenMixtures},
    {"mlp_only_layers", Kind::list, kQwenMixtures},
    {"moe_intermediate_size", Kind::whole, "qwen2_moe qwen3_moe deepseek_v2 deepseek_v3"},
    {"shared_expert_intermediate_size", Kind::whole, "qwen2_moe"},
    {"swiglu_alpha", Kind::number, "gpt_oss"},
    {"swiglu_limit", Kind::number, "gpt_oss"},
    {"experts_per_token", Kind::whole, "gpt_oss"},  // the same as num_experts_per_tok
    {"initial_context_length", Kind::whole, "gpt_oss"},
    {"kv_lora_rank", Kind::whole, kDeepSeeks},
    {"q_lora_rank", Kind::whole, kDeepSeeks},
    {"qk_nope_head_dim", Kind::whole, kDeepSeeks},
    {"qk_rope_head_dim", Kind::whole, kDeepSeeks},
    {"qk_head_dim", Kind::whole, kDeepSeeks},
    {"v_head_dim", Kind::whole, kDeepSeeks},
    {"rope_interleave", Kind::flag, kDeepSeeks},
    {"n_routed_experts", Kind::whole, kDeepSeeks},
    {"n_shared_experts", Kind::whole, kDeepSeeks},
    {"first_k_dense_replace", Kind::whole, kDeepSeeks},
    {"moe_layer_freq", Kind::any, kDeepSeeks},
    {"routed_scaling_factor", Kind::number, kDeepSeeks},
    {"n_group", Kind::whole, kDeepSeeks},
    {"topk_group", Kind::whole, kDeepSeeks},
    {"topk_method", Kind::text, kDeepSeeks},
    {"scoring_func", Kind::text, kDeepSeeks},
    {"num_nextn_predict_layers", Kind::whole, kDeepSeeks},
};

// Keys that PretrainedConfig has or that programs add, and those about quantization, which the weights show.
constexpr std::string_view kApart[] = {
    "add_cross_attention",
    "aux_loss_alpha",
    "architectures",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "cache_implementation",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "ep_size",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "gradient_checkpointing",
    "id2label",
    "initializer_factor",
    "initializer_range",
    "is_decoder",
    "is_encoder_decoder",
    "is_llama_config",
    "label2id",
    "length_penalty",
    "max_length",
    "min_length",
    "model_max_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "output_scores",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "pruned_heads",
    "quantization",
    "quantization_config",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "seq_aux",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "typical_p",
    "use_bfloat16",
    "use_cache",
};

constexpr std::string_view kRopeKeys[] = {
    "rope_type", "type",        "rope_theta",       "factor",          "original_max_position_embeddings",
    "beta_fast", "beta_slow",   "attention_factor", "mscale",          "mscale_all_dim",
    "truncate",  "long_factor", "short_factor",     "low_freq_factor", "high_freq_factor",
    "finetuned",
};

bool lists(std::string_view types, std::string_view type) {
  if (types.empty()) return true;
  while (!types.empty()) {
    const std::string_view first = types.substr(0, types.find(' '));
    if (first == type) return true;
    types.remove_prefix(std::min(types.size(), first.size() + 1));
  }
  return false;
}

}  // namespace

const RunSetting* find_run_setting(std::string_view model_type, std::string_view key) {
  const auto* const found = std::ranges::find(kSettings, key, &RunSetting::key);
  return found == std::end(kSettings) || !lists(found->types, model_type) ? nullptr : found;
}

bool is_apart_from_computing(std::string_view key) {
  if (std::ranges::find(kApart, key) != std::end(kApart)) return true;
  for (const std::string_view begin : {"_name_or_path", "_commit_hash", "_attn_implementation", "attn_implementation",
                                       "unsloth_", "tokenizer_", "summary_"})
    if (key.starts_with(begin)) return true;
  for (const std::string_view end : {"_token_id", "_token_ids", "_token_index", "dropout", "pdrop", "layerdrop"})
    if (key.ends_with(end)) return true;
  return key.find("dropout") != key.npos;
}

bool is_rope_setting(std::string_view model_type, std::string_view key) {
  if (std::ranges::find(kRopeKeys, key) != std::end(kRopeKeys)) return true;
  return (key == "partial_rotary_factor" && (model_type == "phi3" || model_type == "glm4")) ||
         (key == "llama_4_scaling_beta" && model_type == "ministral3");
}

}  // namespace tare::arch
