// Names of families whose experts are one tensor per layer, [experts][inputs][outputs].
#pragma once

#include "arch/patterns.hpp"
#include "arch/patterns_older.hpp"

namespace tare::arch {

inline constexpr Step kTransposeAndHalve[] = {
    {.verb = Verb::transpose}, {.verb = Verb::halve_rows, .role = Role::stacked_gate, .other_half = Role::stacked_up}};

inline constexpr Pattern kLlama4Experts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.feed_forward.router", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_gate_up,
     .hugging_face = "layers.{L}.feed_forward.experts.gate_up_proj",
     .bare = true,
     .steps = kTransposeAndHalve},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.feed_forward.experts.down_proj",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true,
     .steps = kTranspose},
    {.role = Role::shared_gate,
     .hugging_face = "layers.{L}.feed_forward.shared_expert.gate_proj",
     .gguf = "blk.{L}.ffn_gate_shexp"},
    {.role = Role::shared_up,
     .hugging_face = "layers.{L}.feed_forward.shared_expert.up_proj",
     .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.feed_forward.shared_expert.down_proj",
     .gguf = "blk.{L}.ffn_down_shexp"},
};
inline constexpr Pattern kLlama4Gated[] = {
    {.role = Role::gate, .hugging_face = "layers.{L}.feed_forward.gate_proj", .gguf = "blk.{L}.ffn_gate"},
    {.role = Role::up, .hugging_face = "layers.{L}.feed_forward.up_proj", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.feed_forward.down_proj", .gguf = "blk.{L}.ffn_down"},
};

// Qwen3-VL: as in Llama 4, with Qwen's names.
inline constexpr Pattern kQwen3VlExperts[] = {
    kQwenExperts[0],
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_gate_up,
     .hugging_face = "layers.{L}.mlp.experts.gate_up_proj",
     .bare = true,
     .steps = kTransposeAndHalve},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.mlp.experts.down_proj",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true,
     .steps = kTranspose},
};

// GPT-OSS: rows of gate and up take turns, and experts have biases. The biases come first: a name ends in ".bias".
inline constexpr Step kTransposeAndDeal[] = {
    {.verb = Verb::transpose}, {.verb = Verb::deal_rows, .role = Role::stacked_gate, .other_half = Role::stacked_up}};
inline constexpr Step kDealBiases[] = {
    {.verb = Verb::deal_rows, .role = Role::stacked_gate_bias, .other_half = Role::stacked_up_bias}};

inline constexpr Pattern kGptOssExperts[] = {
    {.role = Role::stacked_gate_bias, .gguf = "blk.{L}.ffn_gate_exps", .gguf_end = ".bias"},
    {.role = Role::stacked_up_bias, .gguf = "blk.{L}.ffn_up_exps", .gguf_end = ".bias"},
    {.role = Role::stacked_gate_up_bias,
     .hugging_face = "layers.{L}.mlp.experts.gate_up_proj_bias",
     .bare = true,
     .steps = kDealBiases},
    {.role = Role::stacked_down_bias,
     .hugging_face = "layers.{L}.mlp.experts.down_proj_bias",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::router, .hugging_face = "layers.{L}.mlp.router", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_gate_up,
     .hugging_face = "layers.{L}.mlp.experts.gate_up_proj",
     .bare = true,
     .steps = kTransposeAndDeal},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.mlp.experts.down_proj",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true,
     .steps = kTranspose},
    {.role = Role::sinks, .hugging_face = "layers.{L}.self_attn.sinks", .gguf = "blk.{L}.attn_sinks", .bare = true},
};

}  // namespace tare::arch
