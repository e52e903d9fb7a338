// Hyper-parameters that have a key of their own in GGUF but no field in Config, as data: what GGUF calls them and where
// config.json states them. A family lists the tables that hold for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tare::arch {

inline constexpr std::string_view kKeyHeads = "attention.head_count_kv";

// What the value is on the side of GGUF.
enum class KeyForm : std::uint8_t {
  number,
  flag,         // if config.json does not have it and `number` is 1, GGUF has it as true
  always,       // `number`, of which config.json knows nothing: the class implies it
  always_text,  // likewise `text`
  rank,         // a number that may be "auto", which is a sixteenth of the hidden size, rounded up
  never,        // likewise a flag, which is false
  of_type,      // likewise a flag, which is true for the model_type `text`
  several,      // a flag of config.json, for that the number is more than one
  norms,        // config.json has 2 if there is a norm for each of attention and feed-forward network, otherwise 1
  groups,       // config.json has a word for that experts are chosen in groups, which the number of groups implies
  router,       // a word of config.json for how experts are weighted, as llama.cpp's number
  usual_text,   // `text`, unless another setting means something else
  length,       // how many elements a list of config.json has, outside of the part for the language model
  word,         // a text
  words,        // config.json has a list with a word for each layer, and GGUF a list of flags: whether it is `text`
};

// What a zero under the key means on the way back.
enum class Zero : std::uint8_t { unset, null, counts };

struct KeyRow {
  std::string_view key;  // without the prefix of the architecture
  // Names in config.json: the first that exists is read, the first is written.
  std::array<std::string_view, 3> from = {};
  KeyForm form = KeyForm::number;
  double number = 0;
  std::string_view text = {}, otherwise = {};  // otherwise: the word for the other layers
  // The number is the sum with another key, the quotient by one in whole numbers, or the product: it is not written back.
  std::string_view plus = {}, per = {}, times = {};
  // The product is divided by the value of this key on the way back. Empty: it is not written back.
  std::string_view factor = {};
  // Likewise not written back: another key states it, too.
  bool repeats = false;
  Zero zero = Zero::unset;
  // What llama.cpp assumes without the key, or for a zero that is not set, if the class of transformers would assume
  // something else.
  std::optional<double> unstated = {};

  constexpr bool is_derived() const {
    return repeats || !plus.empty() || !per.empty() || (!times.empty() && factor.empty());
  }
};
using KeyRows = std::span<const KeyRow>;

// The words for KeyForm::router, by llama.cpp's number. The first is none of its own.
inline constexpr std::array<std::string_view, 3> kRouters = {"", "softmax", "sigmoid"};

inline constexpr KeyRow kMixtralKeys[] = {
    {.key = "expert_count", .from = {"num_local_experts", "num_experts"}},
    {.key = "expert_used_count", .from = {"num_experts_per_tok"}},
    {.key = "expert_feed_forward_length", .from = {"moe_intermediate_size"}},
    {.key = "expert_shared_feed_forward_length", .from = {"shared_expert_intermediate_size"}},
};

inline constexpr KeyRow kQwenExpertKeys[] = {
    {.key = "expert_count", .from = {"num_experts", "num_local_experts"}},
    kMixtralKeys[1],
    kMixtralKeys[2],
    kMixtralKeys[3],
};

// How many layers of the tower add to the first layers of the language model.
inline constexpr KeyRow kDeepStackKeys[] = {
    {.key = "n_deepstack_layers", .from = {"vision_config.deepstack_visual_indexes"}, .form = KeyForm::length}};

inline constexpr KeyRow kSoftCaps[] = {
    {.key = "attn_logit_softcapping", .from = {"attn_logit_softcapping"}, .zero = Zero::null},
    {.key = "final_logit_softcapping", .from = {"final_logit_softcapping"}, .zero = Zero::null},
};

inline constexpr std::string_view kAttentionScale = "attention.scale";
inline constexpr KeyRow kScales[] = {
    {.key = "logit_scale", .from = {"logits_scaling"}},
    {.key = "residual_scale", .from = {"residual_multiplier"}},
    {.key = "embedding_scale", .from = {"embedding_multiplier"}},
    {.key = kAttentionScale, .from = {"attention_multiplier"}},
};

inline constexpr KeyRow kClamp[] = {{.key = "attention.clamp_kqv", .from = {"clip_qkv"}}};

// Cohere multiplies logits where Granite divides them. Positions are never scaled.
inline constexpr KeyRow kCohereKeys[] = {
    {.key = "logit_scale", .from = {"logit_scale"}, .unstated = 1},
    {.key = "rope.scaling.type", .form = KeyForm::always_text, .text = "none"},
};

inline constexpr KeyRow kErnieExpertKeys[] = {
    {.key = "expert_count", .from = {"moe_num_experts"}},
    {.key = "expert_used_count", .from = {"moe_k"}},
    {.key = "interleave_moe_layer_step", .from = {"moe_layer_interval"}},
    {.key = "leading_dense_block_count", .from = {"moe_layer_start_index"}, .zero = Zero::counts},
    {.key = "expert_feed_forward_length", .from = {"moe_intermediate_size"}},
    {.key = "expert_shared_count", .from = {"moe_num_shared_experts"}, .zero = Zero::counts, .unstated = 0},
    {.key = "expert_shared_feed_forward_length", .from = {"intermediate_size"}, .per = "num_key_value_heads"},
};

inline constexpr KeyRow kMiniMaxKeys[] = {
    kMixtralKeys[0],
    kMixtralKeys[1],
    {.key = "expert_feed_forward_length", .from = {"intermediate_size"}, .repeats = true},
    {.key = "expert_gating_func", .from = {"scoring_func"}, .form = KeyForm::router},
    {.key = "rope.dimension_count", .from = {"rotary_dim"}},
};

inline constexpr KeyRow kRoutedExpertKeys[] = {
    {.key = "expert_count", .from = {"n_routed_experts"}},
    {.key = "expert_used_count", .from = {"num_experts_per_tok"}},
    {.key = "expert_feed_forward_length", .from = {"moe_intermediate_size"}},
    {.key = "expert_shared_count", .from = {"n_shared_experts"}, .zero = Zero::counts},
    {.key = "leading_dense_block_count", .from = {"first_k_dense_replace"}, .zero = Zero::counts, .unstated = 0},
    {.key = "expert_weights_scale", .from = {"routed_scaling_factor"}, .unstated = 1},
    {.key = "expert_group_count", .from = {"n_group"}, .unstated = 1},
    {.key = "expert_group_used_count", .from = {"topk_group"}, .unstated = 1},
};

inline constexpr std::string_view kHeadAndRotated = "attention.key_length_mla", kRotated = "rope.dimension_count";
inline constexpr KeyRow kLatentKeys[] = {
    {.key = "attention.q_lora_rank", .from = {"q_lora_rank"}, .zero = Zero::null, .unstated = 0},
    {.key = "attention.kv_lora_rank", .from = {"kv_lora_rank"}},
    {.key = "attention.value_length", .from = {"kv_lora_rank"}, .repeats = true},
    {.key = kHeadAndRotated, .from = {"qk_nope_head_dim"}, .plus = "qk_rope_head_dim"},
    {.key = "attention.value_length_mla", .from = {"v_head_dim"}},
    {.key = kRotated, .from = {"qk_rope_head_dim"}},
};

inline constexpr KeyRow kDeepSeekKeys[] = {
    {.key = "expert_weights_norm", .from = {"norm_topk_prob"}, .form = KeyForm::flag, .unstated = 0},
    {.key = "expert_gating_func", .from = {"scoring_func"}, .form = KeyForm::router},
    {.key = "expert_group_count", .from = {"topk_method"}, .form = KeyForm::groups},
};

inline constexpr KeyRow kGlmExpertKeys[] = {
    {.key = "expert_weights_norm", .from = {"norm_topk_prob"}, .form = KeyForm::flag, .unstated = 0},
    {.key = "expert_gating_func", .form = KeyForm::always, .number = 2},
    {.key = "nextn_predict_layers", .from = {"num_nextn_predict_layers"}, .zero = Zero::counts, .unstated = 0},
};

inline constexpr KeyRow kGraniteExpertKeys[] = {kMixtralKeys[0], kMixtralKeys[1]};

inline constexpr KeyRow kParallelKeys[] = {
    {.key = "use_parallel_residual", .from = {"use_parallel_residual"}, .form = KeyForm::flag},
};

// "none" where config.json has no other.
inline constexpr KeyRow kUnscaled[] = {{.key = "rope.scaling.type", .form = KeyForm::usual_text, .text = "none"}};

inline constexpr KeyRow kDotsKeys[] = {kDeepSeekKeys[0], kDeepSeekKeys[1]};

// Each of them is a list with a number for each layer, or one number.
inline constexpr KeyRow kHunyuanExpertKeys[] = {
    {.key = "expert_count", .from = {"num_experts"}},
    {.key = "expert_used_count", .from = {"moe_topk"}},
    {.key = "expert_feed_forward_length", .from = {"moe_intermediate_size"}},
    {.key = "expert_shared_count", .from = {"num_shared_expert"}},
    {.key = "expert_shared_feed_forward_length", .from = {"intermediate_size"}, .repeats = true},
};

inline constexpr KeyRow kIndexerKeys[] = {
    {.key = "attention.indexer.head_count", .from = {"index_n_heads"}},
    {.key = "attention.indexer.key_length", .from = {"index_head_dim"}},
    {.key = "attention.indexer.top_k", .from = {"index_topk"}},
    {.key = "attention.indexer.types",
     .from = {"indexer_types"},
     .form = KeyForm::words,
     .text = "full",
     .otherwise = "shared"},
    kDeepSeekKeys[0],
    kDeepSeekKeys[1],
    kGlmExpertKeys[2],
};

inline constexpr KeyRow kAfmoeKeys[] = {
    kQwenExpertKeys[0],
    kQwenExpertKeys[1],
    kQwenExpertKeys[2],
    {.key = "expert_shared_count", .from = {"num_shared_experts"}, .zero = Zero::counts, .unstated = 0},
    {.key = "leading_dense_block_count", .from = {"num_dense_layers"}, .zero = Zero::counts, .unstated = 0},
    {.key = "expert_weights_norm", .from = {"route_norm"}, .form = KeyForm::flag},
    {.key = "expert_weights_scale", .from = {"route_scale"}, .unstated = 1},
    {.key = "expert_gating_func", .from = {"score_func"}, .form = KeyForm::router},
};

inline constexpr KeyRow kHyKeys[] = {
    kQwenExpertKeys[0],
    kQwenExpertKeys[1],
    kQwenExpertKeys[2],
    {.key = "expert_shared_feed_forward_length",
     .from = {"num_shared_experts"},
     .times = "moe_intermediate_size",
     .factor = "expert_feed_forward_length"},
    {.key = "expert_weights_norm", .from = {"route_norm"}, .form = KeyForm::flag, .number = 1},
    {.key = "expert_weights_scale", .from = {"router_scaling_factor"}, .unstated = 1},
    kGlmExpertKeys[1],
    kGlmExpertKeys[2],
};

inline constexpr KeyRow kExaoneExpertKeys[] = {
    kQwenExpertKeys[0],
    kQwenExpertKeys[1],
    kQwenExpertKeys[2],
    {.key = "expert_shared_count", .from = {"num_shared_experts"}, .zero = Zero::counts, .unstated = 0},
    {.key = "expert_shared_feed_forward_length", .from = {"moe_intermediate_size"}, .times = "num_shared_experts"},
    kRoutedExpertKeys[4],
    kRoutedExpertKeys[5],
    kRoutedExpertKeys[6],
    kRoutedExpertKeys[7],
    kDeepSeekKeys[0],
    kDeepSeekKeys[1],
    {.key = "nextn_predict_layers", .form = KeyForm::always, .number = 0},
    {.key = "rope.scaling.type", .form = KeyForm::always_text, .text = "none"},
};

// Falcon: what its older classes called a new architecture is keys shared by groups of heads.
inline constexpr KeyRow kFalconKeys[] = {
    {.key = "tensor_data_layout", .form = KeyForm::always_text, .text = "jploski"},
    {.key = "attention.head_count_kv", .from = {"new_decoder_architecture"}, .form = KeyForm::several},
    {.key = "attention.head_count_kv", .from = {"num_ln_in_parallel_attn"}, .form = KeyForm::norms},
};
inline constexpr KeyRow kBigCodeKeys[] = {
    {.key = "attention.head_count_kv", .form = KeyForm::always, .number = 1},
};

inline constexpr KeyRow kLlama4Keys[] = {
    {.key = "expert_count", .from = {"num_local_experts"}},
    {.key = "expert_used_count", .from = {"num_experts_per_tok"}},
    {.key = "expert_feed_forward_length", .from = {"intermediate_size"}},
    {.key = "interleave_moe_layer_step", .from = {"interleave_moe_layer_step"}},
};
inline constexpr KeyRow kGptOssKeys[] = {
    kMixtralKeys[0],
    kMixtralKeys[1],
    {.key = "expert_feed_forward_length", .from = {"intermediate_size"}, .repeats = true},
};

// States in place of attention: Qwen3-Next, Qwen 3.5.
inline constexpr KeyRow kStateKeys[] = {
    {.key = "ssm.conv_kernel", .from = {"linear_conv_kernel_dim"}},
    {.key = "ssm.state_size", .from = {"linear_key_head_dim"}},
    {.key = "ssm.group_count", .from = {"linear_num_key_heads"}},
    {.key = "ssm.time_step_rank", .from = {"linear_num_value_heads"}},
    {.key = "ssm.inner_size",
     .from = {"linear_value_head_dim"},
     .times = "linear_num_value_heads",
     .factor = "ssm.time_step_rank"},
};

// Mamba: `expand` times the hidden size.
inline constexpr std::string_view kWidth = "embedding_length";
inline constexpr KeyRow kMambaKeys[] = {
    {.key = "ssm.conv_kernel", .from = {"conv_kernel"}},
    {.key = "ssm.inner_size", .from = {"expand"}, .times = "hidden_size", .factor = kWidth},
    {.key = "ssm.state_size", .from = {"state_size"}},
    {.key = "ssm.time_step_rank", .from = {"time_step_rank"}, .form = KeyForm::rank},
    {.key = "ssm.dt_b_c_rms", .form = KeyForm::of_type, .text = "falcon_mamba"},
};
inline constexpr KeyRow kMamba2Keys[] = {
    kMambaKeys[0],
    kMambaKeys[1],
    kMambaKeys[2],
    {.key = "ssm.time_step_rank", .from = {"num_heads"}},
    {.key = "ssm.inner_size", .from = {"head_dim"}, .times = "num_heads", .factor = "ssm.time_step_rank"},
    {.key = "ssm.group_count", .from = {"n_groups"}},
};
inline constexpr KeyRow kGraniteHybridKeys[] = {
    {.key = "expert_count", .from = {"num_local_experts"}, .zero = Zero::counts},
    kMixtralKeys[1],
    {.key = "expert_shared_feed_forward_length", .from = {"shared_intermediate_size"}},
    {.key = "ssm.conv_kernel", .from = {"mamba_d_conv"}},
    {.key = "ssm.inner_size", .from = {"mamba_expand"}, .times = "hidden_size", .factor = kWidth},
    {.key = "ssm.state_size", .from = {"mamba_d_state"}},
    {.key = "ssm.time_step_rank", .from = {"mamba_n_heads"}},
    {.key = "ssm.inner_size", .from = {"mamba_d_head"}, .times = "mamba_n_heads", .factor = "ssm.time_step_rank"},
    {.key = "ssm.group_count", .from = {"mamba_n_groups"}},
    {.key = "rope.scaling.finetuned", .form = KeyForm::never},
};

inline constexpr KeyRow kNemotronStateKeys[] = {
    kMambaKeys[0],
    {.key = "ssm.inner_size", .from = {"mamba_head_dim"}, .times = "mamba_num_heads", .factor = "ssm.time_step_rank"},
    {.key = "ssm.state_size", .from = {"ssm_state_size"}},
    {.key = "ssm.time_step_rank", .from = {"mamba_num_heads"}},
    {.key = "ssm.group_count", .from = {"n_groups"}},
    {.key = "rope.scaling.finetuned", .form = KeyForm::never},
};
inline constexpr KeyRow kNemotronExpertKeys[] = {
    kRoutedExpertKeys[0],
    kRoutedExpertKeys[1],
    kRoutedExpertKeys[2],
    kRoutedExpertKeys[3],
    kRoutedExpertKeys[5],
    kRoutedExpertKeys[6],
    kRoutedExpertKeys[7],
    kDeepSeekKeys[0],
    {.key = "expert_shared_feed_forward_length", .from = {"moe_shared_expert_intermediate_size"}},
    {.key = "moe_latent_size", .from = {"moe_latent_size"}},
};

inline constexpr KeyRow kModernBertKeys[] = {
    {.key = "rope.scaling.type", .form = KeyForm::always_text, .text = "none"},
    {.key = "hidden_activation", .from = {"hidden_activation"}, .form = KeyForm::word},
};

inline constexpr KeyRow kEuroBertKeys[] = {
    {.key = "rope.scaling.type", .form = KeyForm::always_text, .text = "none"},
};

inline constexpr KeyRow kT5Keys[] = {
    {.key = "attention.relative_buckets_count", .from = {"relative_attention_num_buckets"}},
};
inline constexpr KeyRow kT5DecoderKeys[] = {
    {.key = "decoder_block_count", .from = {"num_decoder_layers"}},
    {.key = "decoder_start_token_id", .from = {"decoder_start_token_id"}, .zero = Zero::counts},
};

// Gemma 3n and 4.
inline constexpr std::string_view kSharedLayers = "attention.shared_kv_layers";
inline constexpr KeyRow kOutputCap[] = {kSoftCaps[1]};
inline constexpr KeyRow kLayerTableKeys[] = {
    {.key = kSharedLayers, .from = {"num_kv_shared_layers"}, .zero = Zero::counts, .unstated = 0},
    {.key = "embedding_length_per_layer_input",
     .from = {"hidden_size_per_layer_input"},
     .zero = Zero::counts,
     .unstated = 0},
};
inline constexpr KeyRow kGemma3nKeys[] = {
    {.key = "altup.active_idx", .from = {"altup_active_idx"}, .zero = Zero::counts},
    {.key = "altup.num_inputs", .from = {"altup_num_inputs"}},
};
inline constexpr KeyRow kGemma4ExpertKeys[] = {
    {.key = "expert_count", .from = {"num_experts"}},
    {.key = "expert_used_count", .from = {"top_k_experts"}},
    {.key = "expert_feed_forward_length", .from = {"moe_intermediate_size", "expert_intermediate_size"}},
};

inline constexpr KeyRow kLfm2Keys[] = {{.key = "shortconv.l_cache", .from = {"conv_L_cache"}}};
inline constexpr KeyRow kLfm2ExpertKeys[] = {
    kQwenExpertKeys[0],
    kQwenExpertKeys[1],
    kQwenExpertKeys[2],
    {.key = "leading_dense_block_count", .from = {"num_dense_layers"}, .zero = Zero::counts, .unstated = 0},
    kGlmExpertKeys[1],
};

}  // namespace tare::arch
