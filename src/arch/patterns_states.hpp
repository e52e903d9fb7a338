// Names of families with a state in all layers (Mamba), or in most of them.
#pragma once

#include "arch/patterns.hpp"
#include "arch/patterns_hybrid.hpp"

namespace tare::arch {

// Mamba 2 has one number for each head, which GGUF has as columns, and norms of groups of heads, as rows.
inline constexpr Step kColumn[] = {{.verb = Verb::reshape}},
                      kRateColumn[] = {{.verb = Verb::negate_exp}, {.verb = Verb::reshape}},
                      kGroupRows[] = {{.verb = Verb::reshape, .key = "n_groups"}},
                      kMambaGroupRows[] = {{.verb = Verb::reshape, .key = "mamba_n_groups"}};

inline constexpr Pattern kMambaEnds[] = {
    {.role = Role::token_embedding, .hugging_face = "embeddings", .gguf = "token_embd"},
    kEnds[1],
    {.role = Role::final_norm, .hugging_face = "norm_f", .gguf = "output_norm"},
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.norm", .gguf = "blk.{L}.attn_norm"},
};

inline constexpr Pattern kMamba[] = {
    {.role = Role::state_in, .hugging_face = "layers.{L}.mixer.in_proj", .gguf = "blk.{L}.ssm_in"},
    {.role = Role::state_convolution,
     .hugging_face = "layers.{L}.mixer.conv1d",
     .gguf = "blk.{L}.ssm_conv1d",
     .steps = kSqueeze},
    {.role = Role::state_mix, .hugging_face = "layers.{L}.mixer.x_proj", .gguf = "blk.{L}.ssm_x"},
    {.role = Role::state_step, .hugging_face = "layers.{L}.mixer.dt_proj", .gguf = "blk.{L}.ssm_dt"},
    {.role = Role::state_rate,
     .hugging_face = "layers.{L}.mixer.A_log",
     .gguf = "blk.{L}.ssm_a",
     .bare = true,
     .gguf_end = "",
     .steps = kNegateExp},
    {.role = Role::state_skip,
     .hugging_face = "layers.{L}.mixer.D",
     .gguf = "blk.{L}.ssm_d",
     .bare = true,
     .gguf_end = ""},
    {.role = Role::state_out, .hugging_face = "layers.{L}.mixer.out_proj", .gguf = "blk.{L}.ssm_out"},
};

inline constexpr Pattern kMamba2[] = {
    kMamba[0],
    kMamba[1],
    {.role = Role::state_step_bias,
     .hugging_face = "layers.{L}.mixer.dt_bias",
     .gguf = "blk.{L}.ssm_dt",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::state_rate,
     .hugging_face = "layers.{L}.mixer.A_log",
     .gguf = "blk.{L}.ssm_a",
     .bare = true,
     .gguf_end = "",
     .steps = kRateColumn},
    {.role = Role::state_skip,
     .hugging_face = "layers.{L}.mixer.D",
     .gguf = "blk.{L}.ssm_d",
     .bare = true,
     .gguf_end = "",
     .steps = kColumn},
    {.role = Role::state_norm,
     .hugging_face = "layers.{L}.mixer.norm",
     .gguf = "blk.{L}.ssm_norm",
     .steps = kGroupRows},
    kMamba[6],
};

// Nemotron-H: a layer is a state, attention, or a network.
inline constexpr Pattern kNemotronLayers[] = {
    {.role = Role::q, .hugging_face = "layers.{L}.mixer.q_proj", .gguf = "blk.{L}.attn_q", .steps = kPairRows},
    {.role = Role::k, .hugging_face = "layers.{L}.mixer.k_proj", .gguf = "blk.{L}.attn_k", .steps = kPairRows},
    {.role = Role::v, .hugging_face = "layers.{L}.mixer.v_proj", .gguf = "blk.{L}.attn_v"},
    {.role = Role::o, .hugging_face = "layers.{L}.mixer.o_proj", .gguf = "blk.{L}.attn_output"},
    {.role = Role::up, .hugging_face = "layers.{L}.mixer.up_proj", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mixer.down_proj", .gguf = "blk.{L}.ffn_down"},
};
inline constexpr Pattern kNemotronExperts[] = {
    {.role = Role::latent_down, .hugging_face = "layers.{L}.mixer.fc1_latent_proj", .gguf = "blk.{L}.ffn_latent_down"},
    {.role = Role::latent_up, .hugging_face = "layers.{L}.mixer.fc2_latent_proj", .gguf = "blk.{L}.ffn_latent_up"},
    {.role = Role::router, .hugging_face = "layers.{L}.mixer.gate", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mixer.gate.e_score_correction_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::expert_up, .hugging_face = "layers.{L}.mixer.experts.{E}.up_proj", .steps = kStackUp},
    {.role = Role::expert_down, .hugging_face = "layers.{L}.mixer.experts.{E}.down_proj", .steps = kStackDown},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_down, .gguf = "blk.{L}.ffn_down_exps"},
    {.role = Role::shared_up,
     .hugging_face = "layers.{L}.mixer.shared_experts.up_proj",
     .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.mixer.shared_experts.down_proj",
     .gguf = "blk.{L}.ffn_down_shexp"},
};

// Granite 4: the same state in layers with networks. The network for every token has gate and up in one matrix; in models
// without experts it is the only one, which has other names in GGUF.
inline constexpr Step kHalveShared[] = {{.verb = Verb::halve_rows,
                                         .role = Role::shared_gate,
                                         .other_half = Role::shared_up}},
                      kHalvePlain[] = {{.verb = Verb::halve_rows, .role = Role::gate, .other_half = Role::up}};
inline constexpr Pattern kGraniteState[] = {
    {.role = Role::state_in, .hugging_face = "layers.{L}.mamba.in_proj", .gguf = "blk.{L}.ssm_in"},
    {.role = Role::state_convolution,
     .hugging_face = "layers.{L}.mamba.conv1d",
     .gguf = "blk.{L}.ssm_conv1d",
     .steps = kSqueeze},
    {.role = Role::state_step_bias,
     .hugging_face = "layers.{L}.mamba.dt_bias",
     .gguf = "blk.{L}.ssm_dt",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::state_rate,
     .hugging_face = "layers.{L}.mamba.A_log",
     .gguf = "blk.{L}.ssm_a",
     .bare = true,
     .gguf_end = "",
     .steps = kRateColumn},
    {.role = Role::state_skip,
     .hugging_face = "layers.{L}.mamba.D",
     .gguf = "blk.{L}.ssm_d",
     .bare = true,
     .gguf_end = "",
     .steps = kColumn},
    {.role = Role::state_norm,
     .hugging_face = "layers.{L}.mamba.norm",
     .gguf = "blk.{L}.ssm_norm",
     .steps = kMambaGroupRows},
    {.role = Role::state_out, .hugging_face = "layers.{L}.mamba.out_proj", .gguf = "blk.{L}.ssm_out"},
};
inline constexpr Pattern kGraniteShared[] = {
    {.role = Role::shared_gate_up, .hugging_face = "layers.{L}.shared_mlp.input_linear", .steps = kHalveShared},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.shared_mlp.output_linear",
     .gguf = "blk.{L}.ffn_down_shexp"},
    {.role = Role::shared_gate, .gguf = "blk.{L}.ffn_gate_shexp"},
    {.role = Role::shared_up, .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::gate_up, .hugging_face = "layers.{L}.shared_mlp.input_linear", .steps = kHalvePlain, .alone = true},
    {.role = Role::down,
     .hugging_face = "layers.{L}.shared_mlp.output_linear",
     .gguf = "blk.{L}.ffn_down",
     .alone = true},
    {.role = Role::gate, .gguf = "blk.{L}.ffn_gate"},
    {.role = Role::up, .gguf = "blk.{L}.ffn_up"},
};

// Apertus: the numbers of the activation are keys in GGUF.
inline constexpr Step kNegativeSlope[] = {{.verb = Verb::to_key, .number = 1, .key = "xielu.alpha_n"}},
                      kPositiveSlope[] = {{.verb = Verb::to_key, .number = 1, .key = "xielu.alpha_p"}},
                      kActivationBeta[] = {{.verb = Verb::to_key, .key = "xielu.beta"}},
                      kActivationEpsilon[] = {{.verb = Verb::to_key, .key = "xielu.eps"}};
inline constexpr Pattern kApertus[] = {
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.attention_layernorm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.feedforward_layernorm", .gguf = "blk.{L}.ffn_norm"},
    {.role = Role::activation_negative,
     .hugging_face = "layers.{L}.mlp.act_fn.alpha_n",
     .bare = true,
     .steps = kNegativeSlope},
    {.role = Role::activation_positive,
     .hugging_face = "layers.{L}.mlp.act_fn.alpha_p",
     .bare = true,
     .steps = kPositiveSlope},
    {.role = Role::activation_slope,
     .hugging_face = "layers.{L}.mlp.act_fn.beta",
     .bare = true,
     .steps = kActivationBeta},
    {.role = Role::activation_epsilon,
     .hugging_face = "layers.{L}.mlp.act_fn.eps",
     .bare = true,
     .steps = kActivationEpsilon},
};

}  // namespace tare::arch
