// Names of Gemma 3n and 4: a token table for each layer, and heads of several sizes.
#pragma once

#include "arch/patterns.hpp"

namespace tare::arch {

// What each layer adds of a token table of its own.
inline constexpr Pattern kLayerTables[] = {
    kEnds[0],
    kEnds[1],
    {.role = Role::layer_table, .hugging_face = "embed_tokens_per_layer", .gguf = "per_layer_token_embd"},
    {.role = Role::layer_mix, .hugging_face = "per_layer_model_projection", .gguf = "per_layer_model_proj"},
    {.role = Role::layer_mix_norm, .hugging_face = "per_layer_projection_norm", .gguf = "per_layer_proj_norm"},
    {.role = Role::layer_gate, .hugging_face = "layers.{L}.per_layer_input_gate", .gguf = "blk.{L}.inp_gate"},
    {.role = Role::layer_out, .hugging_face = "layers.{L}.per_layer_projection", .gguf = "blk.{L}.proj"},
    {.role = Role::layer_norm_after,
     .hugging_face = "layers.{L}.post_per_layer_input_norm",
     .gguf = "blk.{L}.post_norm"},
};

// Gemma 3n: GGUF's tables have rows for the tokens of images and sounds, too.
inline constexpr Step kPadRows[] = {{.verb = Verb::pad_rows, .key = "vocab_size"}};
inline constexpr Pattern kPaddedLayerTables[] = {
    {.role = Role::token_embedding, .hugging_face = "embed_tokens", .gguf = "token_embd", .steps = kPadRows},
    kLayerTables[1],
    {.role = Role::layer_table,
     .hugging_face = "embed_tokens_per_layer",
     .gguf = "per_layer_token_embd",
     .steps = kPadRows},
    kLayerTables[3],
    kLayerTables[4],
    kLayerTables[5],
    kLayerTables[6],
    kLayerTables[7],
};

// Gemma 4: experts next to a network that every token goes through.
inline constexpr Step kPartDivisors[] = {{.verb = Verb::part_divisors}};
inline constexpr Pattern kGemma4[] = {
    {.role = Role::layer_scale,
     .hugging_face = "layers.{L}.layer_scalar",
     .gguf = "blk.{L}.layer_output_scale",
     .bare = true},
    {.role = Role::router, .hugging_face = "layers.{L}.router.proj", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::router_scale,
     .hugging_face = "layers.{L}.router.scale",
     .gguf = "blk.{L}.ffn_gate_inp",
     .bare = true,
     .gguf_end = ".scale"},
    {.role = Role::expert_scale,
     .hugging_face = "layers.{L}.router.per_expert_scale",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true,
     .gguf_end = ".scale"},
    {.role = Role::stacked_gate_up,
     .hugging_face = "layers.{L}.experts.gate_up_proj",
     .gguf = "blk.{L}.ffn_gate_up_exps",
     .bare = true},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.experts.down_proj",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true},
    {.role = Role::ffn_norm_of_experts,
     .hugging_face = "layers.{L}.pre_feedforward_layernorm_2",
     .gguf = "blk.{L}.pre_ffw_norm_2"},
    {.role = Role::post_ffn_norm_of_experts,
     .hugging_face = "layers.{L}.post_feedforward_layernorm_2",
     .gguf = "blk.{L}.post_ffw_norm_2"},
    {.role = Role::post_ffn_norm_of_plain,
     .hugging_face = "layers.{L}.post_feedforward_layernorm_1",
     .gguf = "blk.{L}.post_ffw_norm_1"},
    {.role = Role::rope_factors, .gguf = "rope_freqs", .steps = kPartDivisors},
};

// Gemma 3n: several copies of the vectors go through the layers side by side.
inline constexpr Step kStackStreamsIn[] = {{.verb = Verb::stack, .role = Role::streams_in}},
                      kStackStreamsOut[] = {{.verb = Verb::stack, .role = Role::streams_out}};
inline constexpr Pattern kGemma3n[] = {
    {.role = Role::stream_in, .hugging_face = "altup_projections.{E}", .steps = kStackStreamsIn},
    {.role = Role::stream_out, .hugging_face = "altup_unembed_projections.{E}", .steps = kStackStreamsOut},
    {.role = Role::streams_in, .gguf = "altup_proj"},
    {.role = Role::streams_out, .gguf = "altup_unembd_proj"},
    {.role = Role::stream_correct,
     .hugging_face = "layers.{L}.altup.correction_coefs",
     .gguf = "blk.{L}.altup_correct_coef"},
    {.role = Role::stream_correct_scale,
     .hugging_face = "layers.{L}.altup.correct_output_scale",
     .gguf = "blk.{L}.altup_correct_scale",
     .bare = true},
    {.role = Role::stream_predict,
     .hugging_face = "layers.{L}.altup.prediction_coefs",
     .gguf = "blk.{L}.altup_predict_coef"},
    {.role = Role::stream_router, .hugging_face = "layers.{L}.altup.modality_router", .gguf = "blk.{L}.altup_router"},
    {.role = Role::stream_router_norm,
     .hugging_face = "layers.{L}.altup.router_norm",
     .gguf = "blk.{L}.altup_router_norm"},
    {.role = Role::low_rank_down, .hugging_face = "layers.{L}.laurel.linear_left", .gguf = "blk.{L}.laurel_l"},
    {.role = Role::low_rank_up, .hugging_face = "layers.{L}.laurel.linear_right", .gguf = "blk.{L}.laurel_r"},
    {.role = Role::low_rank_norm,
     .hugging_face = "layers.{L}.laurel.post_laurel_norm",
     .gguf = "blk.{L}.laurel_post_norm"},
};

}  // namespace tare::arch
