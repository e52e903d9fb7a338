#include "arch/run_settings.hpp"

#include <algorithm>
#include <iterator>

#include "arch/families.hpp"

namespace tare::arch {
namespace {

using Kind = SettingKind;

constexpr std::string_view kGemmas = "gemma gemma2 gemma3_text",
                           kLatents = "deepseek_v2 deepseek_v3 glm4_moe_lite kimi_k2",
                           kStates = "qwen3_5_moe_text qwen3_5_text qwen3_next";

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
    {"hidden_activation", Kind::text, kGemmas},
    {"use_bidirectional_attention", Kind::any, kGemmas},
    {"attention_bias", Kind::flag,
     "arcee cohere cohere2 deepseek_v2 deepseek_v3 dots1 gemma gemma2 gemma3_text glm4 glm4_moe "
     "glm4_moe_lite gpt_neox gpt_oss granite granitemoe hunyuan_v1_dense jais2 kimi_k2 llama "
     "minimax_m2 nemotron olmo olmo2 olmo3 olmoe qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe "
     "qwen3_next seed_oss smollm3"},
    {"mlp_bias", Kind::flag, "arcee deepseek_v2 granite jais2 llama nemotron seed_oss smollm3"},
    {"qkv_bias", Kind::flag, "qwen2_moe"},
    {"layer_types", Kind::list,
     "cohere2 dots1 exaone4 gemma2 gemma3_text gpt_oss lfm2 olmo3 qwen2 qwen2_moe qwen3 "
     "qwen3_5_moe_text qwen3_5_text qwen3_next smollm3"},
    {"sliding_window", Kind::whole,
     "cohere2 dots1 exaone4 gemma2 gemma3_text gpt_oss ministral3 mistral mixtral olmo3 phi3 qwen2 "
     "qwen2_moe qwen3 qwen3_moe smollm3 starcoder2"},
    {"use_sliding_window", Kind::flag, "qwen2 qwen2_moe qwen3 qwen3_moe smollm3"},
    {"max_window_layers", Kind::whole, "dots1 qwen2 qwen2_moe qwen3 qwen3_moe"},
    {"sliding_window_pattern", Kind::number, "cohere2 exaone4 gemma2 gemma3_text"},
    {"_sliding_window_pattern", Kind::number, "cohere2 gemma3_text"},
    {"rope_local_base_freq", Kind::number, "gemma3_text"},
    {"attn_logit_softcapping", Kind::number, "gemma2 gemma3_text"},
    {"final_logit_softcapping", Kind::number, "gemma2 gemma3_text"},
    {"query_pre_attn_scalar", Kind::number, "gemma2 gemma3_text"},
    {"attention_multiplier", Kind::number, "granite granitemoe"},
    {"embedding_multiplier", Kind::number, "granite granitemoe"},
    {"logits_scaling", Kind::number, "granite granitemoe"},
    {"residual_multiplier", Kind::number, "granite granitemoe"},
    {"clip_qkv", Kind::number, "olmo olmoe"},
    {"original_max_position_embeddings", Kind::whole, "phi3"},
    {"partial_rotary_factor", Kind::number,
     "cohere2 glm4 glm4_moe gpt_neox minimax_m2 nemotron phi phi3 qwen3_5_moe_text qwen3_5_text "
     "qwen3_next stablelm"},
    {"no_rope_layers", Kind::list, "smollm3"},
    {"no_rope_layer_interval", Kind::number, "smollm3"},
    {"num_experts_per_tok", Kind::whole,
     "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite gpt_oss granitemoe kimi_k2 minimax_m2 "
     "mixtral olmoe qwen2_moe qwen3_5_moe_text qwen3_moe qwen3_next"},
    {"num_experts", Kind::whole,
     "deepseek_v2 deepseek_v3 gpt_oss kimi_k2 mixtral olmoe qwen2_moe qwen3_5_moe_text qwen3_moe "
     "qwen3_next"},
    {"num_local_experts", Kind::whole,
     "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite gpt_oss granitemoe kimi_k2 minimax_m2 "
     "mixtral qwen2_moe qwen3_moe"},
    {"norm_topk_prob", Kind::flag,
     "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite gpt_oss kimi_k2 mixtral olmoe qwen2_moe "
     "qwen3_moe qwen3_next"},
    {"decoder_sparse_step", Kind::whole, "qwen2_moe qwen3_moe qwen3_next"},
    {"mlp_only_layers", Kind::list, "qwen2_moe qwen3_moe qwen3_next"},
    {"moe_intermediate_size", Kind::whole,
     "deepseek_v2 deepseek_v3 dots1 ernie4_5_moe glm4_moe glm4_moe_lite kimi_k2 qwen2_moe "
     "qwen3_5_moe_text qwen3_moe qwen3_next"},
    {"shared_expert_intermediate_size", Kind::whole, "qwen2_moe qwen3_5_moe_text qwen3_next"},
    {"swiglu_alpha", Kind::number, "gpt_oss"},
    {"swiglu_limit", Kind::number, "gpt_oss"},
    {"experts_per_token", Kind::whole, "gpt_oss"},
    {"initial_context_length", Kind::whole, "gpt_oss"},
    {"kv_lora_rank", Kind::whole, kLatents},
    {"q_lora_rank", Kind::whole, kLatents},
    {"qk_nope_head_dim", Kind::whole, kLatents},
    {"qk_rope_head_dim", Kind::whole, kLatents},
    {"qk_head_dim", Kind::whole, kLatents},
    {"v_head_dim", Kind::whole, kLatents},
    {"rope_interleave", Kind::flag, kLatents},
    {"n_routed_experts", Kind::whole, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"n_shared_experts", Kind::whole, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"first_k_dense_replace", Kind::whole, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"moe_layer_freq", Kind::any, kLatents},
    {"routed_scaling_factor", Kind::number, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"n_group", Kind::whole, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"topk_group", Kind::whole, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"topk_method", Kind::text, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2"},
    {"scoring_func", Kind::text, "deepseek_v2 deepseek_v3 dots1 glm4_moe glm4_moe_lite kimi_k2 minimax_m2"},
    {"num_nextn_predict_layers", Kind::whole, "deepseek_v2 deepseek_v3 glm4_moe glm4_moe_lite kimi_k2"},
    {"logit_scale", Kind::number, "cohere cohere2"},
    {"layer_norm_eps", Kind::number, "cohere cohere2 gpt_neox jais2 phi stablelm"},
    {"use_qk_norm", Kind::flag, "cohere glm4_moe minimax_m2"},
    {"use_bias", Kind::flag, "ernie4_5 ernie4_5_moe starcoder2"},
    {"moe_k", Kind::whole, "ernie4_5_moe"},
    {"moe_num_experts", Kind::whole, "ernie4_5_moe"},
    {"moe_num_shared_experts", Kind::whole, "ernie4_5_moe"},
    {"moe_layer_start_index", Kind::whole, "ernie4_5_moe"},
    {"moe_layer_end_index", Kind::whole, "ernie4_5_moe"},
    {"moe_layer_interval", Kind::whole, "ernie4_5_moe"},
    {"moe_norm_min", Kind::number, "ernie4_5_moe"},
    {"mlp_layer_types", Kind::any, "glm4_moe_lite"},
    {"n_positions", Kind::whole, "gpt2"},
    {"n_embd", Kind::whole, "gpt2"},
    {"n_layer", Kind::whole, "gpt2"},
    {"n_head", Kind::whole, "gpt2"},
    {"n_inner", Kind::whole, "gpt2"},
    {"activation_function", Kind::text, "gpt2"},
    {"layer_norm_epsilon", Kind::number, "gpt2"},
    {"scale_attn_weights", Kind::flag, "gpt2"},
    {"scale_attn_by_inverse_layer_idx", Kind::flag, "gpt2"},
    {"reorder_and_upcast_attn", Kind::flag, "gpt2"},
    {"use_parallel_residual", Kind::flag, "gpt_neox stablelm"},
    {"norm_eps", Kind::number, "lfm2 nemotron"},
    {"conv_bias", Kind::flag, "lfm2"},
    {"conv_L_cache", Kind::whole, "lfm2"},
    {"block_multiple_of", Kind::whole, "lfm2"},
    {"block_ffn_dim_multiplier", Kind::number, "lfm2"},
    {"block_auto_adjust_ff_dim", Kind::flag, "lfm2"},
    {"full_attn_idxs", Kind::list, "lfm2"},
    {"qk_layernorm", Kind::flag, "phi stablelm"},
    {"linear_conv_kernel_dim", Kind::whole, kStates},
    {"linear_key_head_dim", Kind::whole, kStates},
    {"linear_value_head_dim", Kind::whole, kStates},
    {"linear_num_key_heads", Kind::whole, kStates},
    {"linear_num_value_heads", Kind::whole, kStates},
    {"attention_out_bias", Kind::flag, "seed_oss"},
    {"use_qkv_bias", Kind::flag, "stablelm"},
    {"norm_epsilon", Kind::number, "starcoder2"},
    {"rotary_pct", Kind::number, "gpt_neox"},
    {"rotary_emb_base", Kind::number, "gpt_neox"},
    {"rotary_dim", Kind::whole, "minimax_m2"},
    {"full_attention_interval", Kind::whole, kStates},
    {"block_ff_dim", Kind::whole, "lfm2"},
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
    "rope_type",
    "type",
    "rope_theta",
    "factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "attention_factor",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "long_factor",
    "short_factor",
    "low_freq_factor",
    "high_freq_factor",
    "finetuned",
    "max_position_embeddings",  // a copy of that of config.json
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
  const Family* const family = find_family(model_type);
  if (family == nullptr) return false;
  const Runtime& runtime = family->runtime;
  return (key == "partial_rotary_factor" && runtime.rotates_part) ||
         (key == "llama_4_scaling_beta" && runtime.has_full_yarn) || (key == "alpha" && runtime.has_alpha_base) ||
         ((key == "mrope_section" || key == "mrope_interleaved") && runtime.states_sections);
}

}  // namespace tare::arch
