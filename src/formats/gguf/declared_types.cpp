// The types that llama.cpp requires: it refuses a file that has another type under a key that it reads.
#include <algorithm>
#include <utility>

#include "formats/gguf/keys.hpp"

namespace tare::gguf {
namespace {

struct Declared {
  std::string_view key;
  ValueType type;
  bool array = false;
};

constexpr Declared kWhole[] = {
    {"general.architecture", ValueType::string},
    {"general.name", ValueType::string},
    {"general.type", ValueType::string},
    {"general.alignment", ValueType::u32},
    {"general.file_type", ValueType::u32},
    {"general.quantization_version", ValueType::u32},
    {"adapter.type", ValueType::string},
    {"adapter.lora.alpha", ValueType::f32},
    {"imatrix.datasets", ValueType::string, true},
    {"imatrix.chunk_count", ValueType::u32},
    {"imatrix.chunk_size", ValueType::u32},
    {"tokenizer.ggml.model", ValueType::string},
    {"tokenizer.ggml.pre", ValueType::string},
    {"tokenizer.ggml.tokens", ValueType::string, true},
    {"tokenizer.ggml.scores", ValueType::f32, true},
    {"tokenizer.ggml.token_type", ValueType::i32, true},
    {"tokenizer.ggml.merges", ValueType::string, true},
    {"tokenizer.ggml.bos_token_id", ValueType::u32},
    {"tokenizer.ggml.eos_token_id", ValueType::u32},
    {"tokenizer.ggml.eot_token_id", ValueType::u32},
    {"tokenizer.ggml.eom_token_id", ValueType::u32},
    {"tokenizer.ggml.unknown_token_id", ValueType::u32},
    {"tokenizer.ggml.seperator_token_id", ValueType::u32},
    {"tokenizer.ggml.padding_token_id", ValueType::u32},
    {"tokenizer.ggml.mask_token_id", ValueType::u32},
    {"tokenizer.ggml.add_bos_token", ValueType::boolean},
    {"tokenizer.ggml.add_eos_token", ValueType::boolean},
    {"tokenizer.ggml.add_space_prefix", ValueType::boolean},
    {"tokenizer.ggml.remove_extra_whitespaces", ValueType::boolean},
    {"tokenizer.chat_template", ValueType::string},
    {"tokenizer.ggml.token_type_count", ValueType::u32},
    {"xielu.alpha_n", ValueType::f32, true},
    {"xielu.alpha_p", ValueType::f32, true},
    {"xielu.beta", ValueType::f32, true},
    {"xielu.eps", ValueType::f32, true},
};

// Keys after the prefix of the architecture. Keys that may have one number per layer are not listed.
constexpr Declared kBehind[] = {
    {"context_length", ValueType::u32},
    {"embedding_length", ValueType::u32},
    {"block_count", ValueType::u32},
    {"vocab_size", ValueType::u32},
    {"attention.key_length", ValueType::u32},
    {"attention.value_length", ValueType::u32},
    {"attention.sliding_window", ValueType::u32},
    {"attention.causal", ValueType::boolean},
    {"attention.layer_norm_epsilon", ValueType::f32},
    {"attention.layer_norm_rms_epsilon", ValueType::f32},
    {"pooling_type", ValueType::u32},
    {"rope.dimension_count", ValueType::u32},
    {"rope.freq_base", ValueType::f32},
    {"rope.scaling.type", ValueType::string},
    {"rope.scaling.factor", ValueType::f32},
    {"rope.scaling.attn_factor", ValueType::f32},
    {"rope.scaling.original_context_length", ValueType::u32},
    {"rope.scaling.finetuned", ValueType::boolean},
    {"rope.scaling.yarn_log_multiplier", ValueType::f32},
    {"rope.scaling.yarn_ext_factor", ValueType::f32},
    {"rope.scaling.yarn_attn_factor", ValueType::f32},
    {"rope.scaling.yarn_beta_fast", ValueType::f32},
    {"rope.scaling.yarn_beta_slow", ValueType::f32},
    {"expert_count", ValueType::u32},
    {"expert_used_count", ValueType::u32},
    {"expert_feed_forward_length", ValueType::u32},
    {"expert_shared_feed_forward_length", ValueType::u32},
    {"attn_logit_softcapping", ValueType::f32},
    {"final_logit_softcapping", ValueType::f32},
    {"logit_scale", ValueType::f32},
    {"residual_scale", ValueType::f32},
    {"embedding_scale", ValueType::f32},
    {"attention.scale", ValueType::f32},
    {"attention.clamp_kqv", ValueType::f32},
    {"expert_weights_scale", ValueType::f32},
    {"expert_weights_norm", ValueType::boolean},
    {"expert_gating_func", ValueType::u32},
    {"expert_group_count", ValueType::u32},
    {"expert_group_used_count", ValueType::u32},
    {"expert_shared_count", ValueType::u32},
    {"interleave_moe_layer_step", ValueType::u32},
    {"leading_dense_block_count", ValueType::u32},
    {"nextn_predict_layers", ValueType::u32},
    {"use_parallel_residual", ValueType::boolean},
    {"attention.q_lora_rank", ValueType::u32},
    {"attention.kv_lora_rank", ValueType::u32},
    {"attention.key_length_mla", ValueType::u32},
    {"attention.value_length_mla", ValueType::u32},
    {"n_deepstack_layers", ValueType::u32},
    {"activation_sparsity_scale", ValueType::f32, true},
    // Keys of towers, whose architecture is "clip".
    {"projector_type", ValueType::string},
    {"has_vision_encoder", ValueType::boolean},
    {"use_gelu", ValueType::boolean},
    {"use_silu", ValueType::boolean},
    {"vision.image_size", ValueType::u32},
    {"vision.patch_size", ValueType::u32},
    {"vision.embedding_length", ValueType::u32},
    {"vision.feed_forward_length", ValueType::u32},
    {"vision.projection_dim", ValueType::u32},
    {"vision.block_count", ValueType::u32},
    {"vision.attention.head_count", ValueType::u32},
    {"vision.attention.layer_norm_epsilon", ValueType::f32},
    {"vision.spatial_merge_size", ValueType::u32},
    {"vision.n_wa_pattern", ValueType::u32},
    {"vision.projector.scale_factor", ValueType::u32},
    {"vision.preproc_image_size", ValueType::u32},
    {"vision.preproc_min_tiles", ValueType::u32},
    {"vision.preproc_max_tiles", ValueType::u32},
};

}  // namespace

std::optional<EntryType> declared_type(std::string_view key) {
  if (const auto found = std::ranges::find(kWhole, key, &Declared::key); found != std::end(kWhole))
    return EntryType{found->type, found->array};
  if (key.starts_with("general.") || key.starts_with("tokenizer.")) return std::nullopt;
  const std::string_view rest = key.substr(std::min(key.find('.'), key.size() - 1) + 1);
  const auto found = std::ranges::find(kBehind, rest, &Declared::key);
  return found == std::end(kBehind) ? std::nullopt : std::optional(EntryType{found->type, found->array});
}

}  // namespace tare::gguf
