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

}  // namespace tare::arch
