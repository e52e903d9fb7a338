// Names of families in which some layers have no attention.
#pragma once

#include "arch/patterns.hpp"

namespace tare::arch {

// Weights of a convolution along the text: one row for each channel, which is rank 3 in Hugging Face's dialect.
inline constexpr Step kSqueeze[] = {{.verb = Verb::squeeze}};

// LFM 2: short convolutions in the other layers.
inline constexpr Pattern kLfm2[] = {
    {.role = Role::final_norm, .hugging_face = "embedding_norm", .gguf = "token_embd_norm"},
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.operator_norm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.ffn_norm", .gguf = "blk.{L}.ffn_norm"},
    kAttention[0],
    kAttention[1],
    kAttention[2],
    {.role = Role::o, .hugging_face = "layers.{L}.self_attn.out_proj", .gguf = "blk.{L}.attn_output"},
    {.role = Role::q_norm, .hugging_face = "layers.{L}.self_attn.q_layernorm", .gguf = "blk.{L}.attn_q_norm"},
    {.role = Role::k_norm, .hugging_face = "layers.{L}.self_attn.k_layernorm", .gguf = "blk.{L}.attn_k_norm"},
    {.role = Role::convolution,
     .hugging_face = "layers.{L}.conv.conv",
     .gguf = "blk.{L}.shortconv.conv",
     .steps = kSqueeze},
    {.role = Role::convolution_in, .hugging_face = "layers.{L}.conv.in_proj", .gguf = "blk.{L}.shortconv.in_proj"},
    {.role = Role::convolution_out, .hugging_face = "layers.{L}.conv.out_proj", .gguf = "blk.{L}.shortconv.out_proj"},
    {.role = Role::gate, .hugging_face = "layers.{L}.feed_forward.w1", .gguf = "blk.{L}.ffn_gate"},
    {.role = Role::up, .hugging_face = "layers.{L}.feed_forward.w3", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.feed_forward.w2", .gguf = "blk.{L}.ffn_down"},
};
inline constexpr Pattern kLfm2Experts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.feed_forward.gate", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.feed_forward.expert_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::expert_gate, .hugging_face = "layers.{L}.feed_forward.experts.{E}.w1", .steps = kStackGate},
    {.role = Role::expert_up, .hugging_face = "layers.{L}.feed_forward.experts.{E}.w3", .steps = kStackUp},
    {.role = Role::expert_down, .hugging_face = "layers.{L}.feed_forward.experts.{E}.w2", .steps = kStackDown},
    kMixtral[4],
    kMixtral[5],
    kMixtral[6],
};

// Qwen3-Next and Qwen 3.5: states in place of attention. Norms have the sum with 1 in GGUF, except the one inside the state.
inline constexpr Step kNegateExp[] = {{.verb = Verb::negate_exp}};
inline constexpr Step kPartHeads[] = {
    {.verb = Verb::part_heads, .role = Role::state_qkv, .other_half = Role::state_gate}};
inline constexpr auto kNormsOfQwenNext = with_steps(kPreNormsAfterAttention, kPlusOne);

inline constexpr Pattern kQwenNextState[] = {
    {.role = Role::state_qkvz, .hugging_face = "layers.{L}.linear_attn.in_proj_qkvz", .steps = kPartHeads},
    {.role = Role::state_qkv, .gguf = "blk.{L}.attn_qkv"},
    {.role = Role::state_gate, .gguf = "blk.{L}.attn_gate"},
    {.role = Role::state_step_and_share, .hugging_face = "layers.{L}.linear_attn.in_proj_ba", .gguf = "blk.{L}.ssm_ba"},
    {.role = Role::state_convolution,
     .hugging_face = "layers.{L}.linear_attn.conv1d",
     .gguf = "blk.{L}.ssm_conv1d",
     .steps = kSqueeze},
    {.role = Role::state_step_bias,
     .hugging_face = "layers.{L}.linear_attn.dt_bias",
     .gguf = "blk.{L}.ssm_dt",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::state_rate,
     .hugging_face = "layers.{L}.linear_attn.A_log",
     .gguf = "blk.{L}.ssm_a",
     .bare = true,
     .gguf_end = "",
     .steps = kNegateExp},
    {.role = Role::state_norm, .hugging_face = "layers.{L}.linear_attn.norm", .gguf = "blk.{L}.ssm_norm"},
    {.role = Role::state_out, .hugging_face = "layers.{L}.linear_attn.out_proj", .gguf = "blk.{L}.ssm_out"},
};

// Qwen 3.5: the same in tensors of their own, and heads of values in another order.
inline constexpr Step kTileHeads[] = {{.verb = Verb::tile_rows}},
                      kTileRows[] = {{.verb = Verb::tile_rows, .number = 1}},
                      kTileColumns[] = {{.verb = Verb::tile_columns}},
                      kSqueezeAndTile[] = {{.verb = Verb::squeeze}, {.verb = Verb::tile_rows}},
                      kTileAndNegateExp[] = {{.verb = Verb::tile_rows, .number = 1}, {.verb = Verb::negate_exp}};
inline constexpr Pattern kQwen35State[] = {
    {.role = Role::state_qkv,
     .hugging_face = "layers.{L}.linear_attn.in_proj_qkv",
     .gguf = "blk.{L}.attn_qkv",
     .steps = kTileHeads},
    {.role = Role::state_gate,
     .hugging_face = "layers.{L}.linear_attn.in_proj_z",
     .gguf = "blk.{L}.attn_gate",
     .steps = kTileHeads},
    {.role = Role::state_step,
     .hugging_face = "layers.{L}.linear_attn.in_proj_a",
     .gguf = "blk.{L}.ssm_alpha",
     .steps = kTileRows},
    {.role = Role::state_share,
     .hugging_face = "layers.{L}.linear_attn.in_proj_b",
     .gguf = "blk.{L}.ssm_beta",
     .steps = kTileRows},
    {.role = Role::state_convolution,
     .hugging_face = "layers.{L}.linear_attn.conv1d",
     .gguf = "blk.{L}.ssm_conv1d",
     .steps = kSqueezeAndTile},
    {.role = Role::state_step_bias,
     .hugging_face = "layers.{L}.linear_attn.dt_bias",
     .gguf = "blk.{L}.ssm_dt",
     .bare = true,
     .gguf_end = ".bias",
     .steps = kTileRows},
    {.role = Role::state_rate,
     .hugging_face = "layers.{L}.linear_attn.A_log",
     .gguf = "blk.{L}.ssm_a",
     .bare = true,
     .gguf_end = "",
     .steps = kTileAndNegateExp},
    kQwenNextState[7],
    {.role = Role::state_out,
     .hugging_face = "layers.{L}.linear_attn.out_proj",
     .gguf = "blk.{L}.ssm_out",
     .steps = kTileColumns},
};

// The layer that predicts further tokens is named "mtp" in their files, and as the one after the last here.
inline constexpr Pattern kNextTokensPlusOne[] = {
    kNextTokens[0],
    {.role = Role::next_token_norm,
     .hugging_face = "layers.{L}.enorm",
     .gguf = "blk.{L}.nextn.enorm",
     .steps = kPlusOne},
    {.role = Role::next_layer_norm,
     .hugging_face = "layers.{L}.hnorm",
     .gguf = "blk.{L}.nextn.hnorm",
     .steps = kPlusOne},
    {.role = Role::next_head_norm,
     .hugging_face = "layers.{L}.shared_head.norm",
     .gguf = "blk.{L}.nextn.shared_head_norm",
     .steps = kPlusOne},
};
inline constexpr auto kQwenNextEnds = both(kEnds, kNextTokensPlusOne);
inline constexpr auto kQwenNextExperts = both(kQwenExperts, kSharedExpert);

}  // namespace tare::arch
