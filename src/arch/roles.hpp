// The purpose of a tensor in a transformer, whatever a file calls it.
#pragma once

#include <cstdint>

namespace tare::arch {

enum class Role : std::uint8_t {
  token_embedding,
  position_embedding,
  table_norm,  // after the token table
  output_head,
  final_norm,
  rope_factors,        // one divisor per rotated pair (Llama 3); GGUF only
  rope_factors_long,   // the same for long texts (longrope)
  rope_factors_short,  // the same for short texts
  rope_inverse,        // inverse frequencies: computed from the hyper-parameters, and omitted from GGUF
  layer_table,         // vectors of the tokens for each layer, and what makes such of the usual ones
  layer_mix,
  layer_mix_norm,
  streams_in,   // makes several copies of the vectors, which go through the layers together; a stack of matrices
  streams_out,  // the way back
  stream_in,
  stream_out,
  classifier,  // a head for classes of texts
  classifier_norm,
  classifier_out,
  classifier_alone,  // its only matrix
  decoder_final_norm,
  attention_norm,       // before the attention of a layer
  ffn_norm,             // before the feed-forward network
  post_attention_norm,  // after the attention, before its result is added
  post_ffn_norm,
  q,
  k,
  v,
  o,
  qkv,  // rows of q, then k, then v
  q_norm,
  k_norm,
  gate,
  up,
  down,
  gate_up,        // rows of gate, then up
  router,         // chooses experts
  router_bias,    // is added to its scores for the choice alone
  shared_router,  // weights the shared expert
  expert_gate,    // one expert's
  expert_up,
  expert_down,
  stacked_gate,  // stack of all experts of a layer: rank 3, experts first
  stacked_up,
  stacked_down,
  stacked_gate_up,
  shared_gate,  // belongs to the expert that processes every token
  shared_up,
  shared_down,
  q_compress,  // latent attention: queries, and keys with values, come from short vectors
  q_compress_norm,
  q_expand,
  kv_compress,
  kv_compress_norm,
  kv_expand,
  k_expand,  // transposed; rank 3, heads first
  v_expand,
  next_join,  // a layer that predicts further tokens: joins the vectors of the token and of the layer before
  next_token_norm,
  next_layer_norm,
  next_embedding,
  next_head,
  next_head_norm,
  sinks,  // a score in the attention for no token at all
  stacked_gate_bias,
  stacked_up_bias,
  stacked_down_bias,
  stacked_gate_up_bias,
  convolution,  // along the text; layers without attention
  convolution_in,
  convolution_out,
  attention_mask,    // which tokens see which: computed, and omitted from GGUF
  attention_masked,  // the number for those that it does not see
  parallel_norm,     // one norm before attention and feed-forward network, or one for each
  own_attention_norm,
  own_ffn_norm,
  attention_gate,  // is multiplied with the result of the attention
  index_q,         // sparse attention: chooses the tokens that a token looks at
  index_k,
  index_k_norm,
  index_weights,
  state_qkvz,  // a state in place of attention: rows of queries, keys, values and gates, head by head
  state_qkv,
  state_gate,
  state_step_and_share,  // how far a token changes the state, and how much of it counts
  state_step,
  state_share,
  state_step_bias,
  state_rate,  // what is left of the state from token to token
  state_norm,
  state_convolution,
  state_out,
  state_in,    // what a state is made of, for the classes that have it in one matrix
  state_mix,   // step, and what comes in and goes out, from the convolved vector (Mamba 1)
  state_skip,  // what goes past the state
  token_types,
  activation_negative,  // numbers of an activation, one tensor each
  activation_positive,
  activation_slope,
  activation_epsilon,
  shared_gate_up,
  latent_down,  // experts work in a smaller space
  latent_up,
  layer_gate,  // the vectors of a layer's own token table
  layer_out,
  layer_norm_after,
  layer_scale,  // multiplies what a layer makes
  router_scale,
  expert_scale,
  ffn_norm_of_experts,  // norms around the experts, and after the network next to them
  post_ffn_norm_of_experts,
  post_ffn_norm_of_plain,
  stream_correct,
  stream_correct_scale,
  stream_predict,
  stream_router,
  stream_router_norm,
  low_rank_down,
  low_rank_up,
  low_rank_norm,
  relative_bias,  // is added to scores, by how far two tokens are apart
  cross_norm,     // attention to what an encoder has made, and a decoder's other parts
  cross_q,
  cross_k,
  cross_v,
  cross_o,
  decoder_norm,
  decoder_q,
  decoder_k,
  decoder_v,
  decoder_o,
  decoder_relative_bias,
  decoder_ffn_norm,
  decoder_gate,
  decoder_up,
  gated_up,  // the same as `up`, for classes with another name for it if there is a gate
  decoder_gated_up,
  decoder_down,
  // The tower of a multimodal model, and its projector, which makes tokens for the language model of its result.
  tower_patches,  // pixels to vectors
  tower_second_patches,
  tower_frames,  // both of these in one kernel
  tower_positions,
  tower_class,
  tower_first_norm,
  tower_last_norm,
  tower_line_end,  // the token after each row of an image
  tower_norm,      // before the attention of a layer
  tower_ffn_norm,
  tower_q,
  tower_k,
  tower_v,
  tower_qkv,
  tower_q_norm,
  tower_k_norm,
  tower_o,
  tower_gate,
  tower_up,
  tower_down,
  tower_scale,  // multiplies what the attention of a layer adds
  tower_ffn_scale,
  tower_tap_norm,  // a projector of its own for the vectors between layers
  tower_tap_in,
  tower_tap_out,
  projector_merger,
  projector_norm,
  projector_in,
  projector_out,
  other,
};

constexpr bool is_norm(Role role) {
  switch (role) {
    case Role::final_norm:
    case Role::attention_norm:
    case Role::ffn_norm:
    case Role::post_attention_norm:
    case Role::post_ffn_norm:
    case Role::q_norm:
    case Role::k_norm:
    case Role::q_compress_norm:
    case Role::kv_compress_norm:
    case Role::next_token_norm:
    case Role::next_layer_norm:
    case Role::next_head_norm:
    case Role::table_norm:
    case Role::parallel_norm:
    case Role::own_attention_norm:
    case Role::own_ffn_norm:
    case Role::index_k_norm:
    case Role::state_norm:
    case Role::tower_first_norm:
    case Role::tower_last_norm:
    case Role::tower_norm:
    case Role::tower_ffn_norm:
    case Role::tower_q_norm:
    case Role::tower_k_norm:
    case Role::tower_tap_norm:
    case Role::projector_norm:
    case Role::layer_mix_norm:
    case Role::classifier_norm:
    case Role::decoder_final_norm:
    case Role::layer_norm_after:
    case Role::ffn_norm_of_experts:
    case Role::post_ffn_norm_of_experts:
    case Role::post_ffn_norm_of_plain:
    case Role::stream_router_norm:
    case Role::low_rank_norm:
    case Role::cross_norm:
    case Role::decoder_norm:
    case Role::decoder_ffn_norm: return true;
    default: return false;
  }
}

constexpr bool is_in_layer(Role role) {
  return role != Role::token_types && ((role >= Role::attention_norm && role < Role::tower_patches) ||
                                       (role >= Role::tower_norm && role <= Role::tower_tap_out));
}

// GGUF's runtime needs them as f32.
constexpr bool is_f32(Role role) {
  return is_norm(role) || role == Role::router || role == Role::router_bias || role == Role::shared_router ||
         role == Role::index_weights || role == Role::position_embedding || role == Role::convolution ||
         role == Role::state_convolution || role == Role::state_rate || role == Role::state_skip ||
         role == Role::token_types || (role >= Role::tower_patches && role <= Role::tower_class) ||
         role == Role::projector_merger || role == Role::stream_correct || role == Role::stream_predict ||
         (role >= Role::sinks && role <= Role::stacked_gate_up_bias);
}

constexpr bool is_of_attention(Role role) { return (role >= Role::q && role <= Role::k_norm); }

// Returns whether it is part of a head for classes of texts.
constexpr bool is_of_classifier(Role role) { return role >= Role::classifier && role <= Role::classifier_alone; }

constexpr bool is_of_expert(Role role) { return role >= Role::expert_gate && role <= Role::expert_down; }

}  // namespace tare::arch
