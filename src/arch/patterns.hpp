// The table of tensor names, in groups that families choose from. Names in Hugging Face's dialect are written without
// their root ("model.").
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "arch/families.hpp"

namespace tare::arch {

// The rows of a group, with these steps in addition.
template <std::size_t N>
constexpr std::array<Pattern, N> with_steps(const Pattern (&rows)[N], Steps steps) {
  std::array<Pattern, N> all{};
  std::ranges::copy(rows, all.begin());
  for (Pattern& row : all) row.steps = steps;
  return all;
}

inline constexpr Step kOmit[] = {{.verb = Verb::omit}};

// Without a head, GGUF's runtimes use the token table.
inline constexpr Pattern kEnds[] = {
    {.role = Role::token_embedding, .hugging_face = "embed_tokens", .gguf = "token_embd"},
    {.role = Role::output_head, .hugging_face = "lm_head", .gguf = "output"},
};

// They always use the token table.
inline constexpr Step kOmitTable[] = {{.verb = Verb::omit_copy, .role = Role::token_embedding}};
inline constexpr Pattern kEndsWithoutHead[] = {
    kEnds[0],
    {.role = Role::output_head, .hugging_face = "lm_head", .gguf = "output", .steps = kOmitTable},
};

// They require a head.
inline constexpr Step kCopyTable[] = {{.verb = Verb::copy, .role = Role::token_embedding}};
inline constexpr Pattern kEndsWithCopiedHead[] = {
    kEnds[0],
    {.role = Role::output_head, .hugging_face = "lm_head", .gguf = "output", .steps = kCopyTable},
};

inline constexpr Pattern kAttention[] = {
    {.role = Role::q, .hugging_face = "layers.{L}.self_attn.q_proj", .gguf = "blk.{L}.attn_q"},
    {.role = Role::k, .hugging_face = "layers.{L}.self_attn.k_proj", .gguf = "blk.{L}.attn_k"},
    {.role = Role::v, .hugging_face = "layers.{L}.self_attn.v_proj", .gguf = "blk.{L}.attn_v"},
    {.role = Role::o, .hugging_face = "layers.{L}.self_attn.o_proj", .gguf = "blk.{L}.attn_output"},
    {.role = Role::rope_inverse,
     .hugging_face = "layers.{L}.self_attn.rotary_emb.inv_freq",
     .bare = true,
     .steps = kOmit},
    {.role = Role::rope_inverse, .hugging_face = "rotary_emb.inv_freq", .bare = true, .steps = kOmit},
};

// Llama and related families: rotary positions are applied to pairs of neighbours in GGUF.
inline constexpr Step kPairRows[] = {{.verb = Verb::pair_rows}};
inline constexpr Pattern kPairedAttention[] = {
    {.role = Role::q, .hugging_face = "layers.{L}.self_attn.q_proj", .gguf = "blk.{L}.attn_q", .steps = kPairRows},
    {.role = Role::k, .hugging_face = "layers.{L}.self_attn.k_proj", .gguf = "blk.{L}.attn_k", .steps = kPairRows},
    kAttention[2],
    kAttention[3],
    kAttention[4],
    kAttention[5],
};

// DeepSeek: latent attention. GGUF's runtime multiplies the vectors of keys and values by the halves of what expands them;
// early files have that as one tensor.
inline constexpr Step kSplitHeads[] = {
    {.verb = Verb::split_heads, .role = Role::k_expand, .other_half = Role::v_expand, .key = "qk_nope_head_dim"}};
inline constexpr Pattern kLatentAttention[] = {
    kAttention[0],
    kAttention[3],
    kAttention[4],
    kAttention[5],
    {.role = Role::q_compress, .hugging_face = "layers.{L}.self_attn.q_a_proj", .gguf = "blk.{L}.attn_q_a"},
    {.role = Role::q_compress_norm,
     .hugging_face = "layers.{L}.self_attn.q_a_layernorm",
     .gguf = "blk.{L}.attn_q_a_norm"},
    {.role = Role::q_expand, .hugging_face = "layers.{L}.self_attn.q_b_proj", .gguf = "blk.{L}.attn_q_b"},
    {.role = Role::kv_compress,
     .hugging_face = "layers.{L}.self_attn.kv_a_proj_with_mqa",
     .gguf = "blk.{L}.attn_kv_a_mqa"},
    {.role = Role::kv_compress_norm,
     .hugging_face = "layers.{L}.self_attn.kv_a_layernorm",
     .gguf = "blk.{L}.attn_kv_a_norm"},
    {.role = Role::kv_expand,
     .hugging_face = "layers.{L}.self_attn.kv_b_proj",
     .gguf = "blk.{L}.attn_kv_b",
     .steps = kSplitHeads},
    {.role = Role::k_expand, .gguf = "blk.{L}.attn_k_b"},
    {.role = Role::v_expand, .gguf = "blk.{L}.attn_v_b"},
};

// DeepSeek V3.2: what chooses the tokens that a token looks at.
inline constexpr Pattern kIndexer[] = {
    {.role = Role::index_q, .hugging_face = "layers.{L}.self_attn.indexer.wq_b", .gguf = "blk.{L}.indexer.attn_q_b"},
    {.role = Role::index_k, .hugging_face = "layers.{L}.self_attn.indexer.wk", .gguf = "blk.{L}.indexer.attn_k"},
    {.role = Role::index_k_norm,
     .hugging_face = "layers.{L}.self_attn.indexer.k_norm",
     .gguf = "blk.{L}.indexer.k_norm"},
    {.role = Role::index_weights,
     .hugging_face = "layers.{L}.self_attn.indexer.weights_proj",
     .gguf = "blk.{L}.indexer.proj"},
};

inline constexpr Pattern kFinalNorm[] = {
    {.role = Role::final_norm, .hugging_face = "norm", .gguf = "output_norm"},
};

// Norms before attention and feed-forward network.
inline constexpr Pattern kPreNorms[] = {
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.input_layernorm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.post_attention_layernorm", .gguf = "blk.{L}.ffn_norm"},
};

// Norms after attention and feed-forward network.
inline constexpr Pattern kPostNorms[] = {
    {.role = Role::post_attention_norm,
     .hugging_face = "layers.{L}.post_attention_layernorm",
     .gguf = "blk.{L}.post_attention_norm"},
    {.role = Role::post_ffn_norm,
     .hugging_face = "layers.{L}.post_feedforward_layernorm",
     .gguf = "blk.{L}.post_ffw_norm"},
};

// Norms that families with norms on both sides have in addition to kPostNorms.
inline constexpr Pattern kSandwichNorms[] = {
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.input_layernorm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.pre_feedforward_layernorm", .gguf = "blk.{L}.ffn_norm"},
};

// Norms before attention and feed-forward network, where GGUF calls the second one after what precedes it.
inline constexpr Pattern kPreNormsAfterAttention[] = {
    kPreNorms[0],
    {.role = Role::ffn_norm,
     .hugging_face = "layers.{L}.post_attention_layernorm",
     .gguf = "blk.{L}.post_attention_norm"},
};

// One norm before both.
inline constexpr Pattern kAttentionNorm[] = {kPreNorms[0]};

// GLM 4: norms on both sides.
inline constexpr Pattern kNormsOfGlm[] = {
    kPreNorms[0],
    kPreNorms[1],
    {.role = Role::post_attention_norm,
     .hugging_face = "layers.{L}.post_self_attn_layernorm",
     .gguf = "blk.{L}.post_attention_norm"},
    {.role = Role::post_ffn_norm, .hugging_face = "layers.{L}.post_mlp_layernorm", .gguf = "blk.{L}.post_ffw_norm"},
};

// AFMoE: likewise, with other names.
inline constexpr Pattern kNormsOfAfmoe[] = {
    kPreNorms[0],
    kPostNorms[0],
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.pre_mlp_layernorm", .gguf = "blk.{L}.ffn_norm"},
    kNormsOfGlm[3],
};

inline constexpr Pattern kQkNorms[] = {
    {.role = Role::q_norm, .hugging_face = "layers.{L}.self_attn.q_norm", .gguf = "blk.{L}.attn_q_norm"},
    {.role = Role::k_norm, .hugging_face = "layers.{L}.self_attn.k_norm", .gguf = "blk.{L}.attn_k_norm"},
};

inline constexpr Pattern kQkNormsOfHunyuan[] = {
    {.role = Role::q_norm, .hugging_face = "layers.{L}.self_attn.query_layernorm", .gguf = "blk.{L}.attn_q_norm"},
    {.role = Role::k_norm, .hugging_face = "layers.{L}.self_attn.key_layernorm", .gguf = "blk.{L}.attn_k_norm"},
};

// Gemma: the norms compute with 1 + weight, and GGUF has that sum.
inline constexpr Step kPlusOne[] = {{.verb = Verb::add, .number = 1}};
inline constexpr auto kFinalNormPlusOne = with_steps(kFinalNorm, kPlusOne);
inline constexpr auto kPreNormsPlusOne = with_steps(kPreNorms, kPlusOne);
inline constexpr auto kPostNormsPlusOne = with_steps(kPostNorms, kPlusOne);
inline constexpr auto kSandwichNormsPlusOne = with_steps(kSandwichNorms, kPlusOne);
inline constexpr auto kQkNormsPlusOne = with_steps(kQkNorms, kPlusOne);

inline constexpr Pattern kGated[] = {
    {.role = Role::gate, .hugging_face = "layers.{L}.mlp.gate_proj", .gguf = "blk.{L}.ffn_gate"},
    {.role = Role::up, .hugging_face = "layers.{L}.mlp.up_proj", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.down_proj", .gguf = "blk.{L}.ffn_down"},
};

// A feed-forward network without a gate.
inline constexpr Pattern kUngated[] = {kGated[1], kGated[2]};
inline constexpr Pattern kConvolved[] = {
    {.role = Role::up, .hugging_face = "layers.{L}.mlp.c_fc", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.c_proj", .gguf = "blk.{L}.ffn_down"},
};

// Phi 1 and 2.
inline constexpr Pattern kPhi2[] = {
    kAttention[0],
    kAttention[1],
    kAttention[2],
    {.role = Role::o, .hugging_face = "layers.{L}.self_attn.dense", .gguf = "blk.{L}.attn_output"},
    kAttention[4],
    kAttention[5],
    {.role = Role::up, .hugging_face = "layers.{L}.mlp.fc1", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.fc2", .gguf = "blk.{L}.ffn_down"},
    {.role = Role::final_norm, .hugging_face = "final_layernorm", .gguf = "output_norm"},
    kPreNorms[0],
};

inline constexpr Step kLlama3Divisors[] = {{.verb = Verb::llama3_divisors}},
                      kLongDivisors[] = {{.verb = Verb::listed_divisors, .key = "long_factor"}},
                      kShortDivisors[] = {{.verb = Verb::listed_divisors, .key = "short_factor"}};

// GLM 4: likewise for gate and up alone.
inline constexpr Pattern kFusedGate[] = {
    {.role = Role::gate_up, .hugging_face = "layers.{L}.mlp.gate_up_proj", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.down_proj", .gguf = "blk.{L}.ffn_down"},
};

// Phi 3: GGUF has no separate name for gate and up together.
inline constexpr Pattern kFused[] = {
    {.role = Role::qkv, .hugging_face = "layers.{L}.self_attn.qkv_proj", .gguf = "blk.{L}.attn_qkv"},
    {.role = Role::gate_up, .hugging_face = "layers.{L}.mlp.gate_up_proj", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.down_proj", .gguf = "blk.{L}.ffn_down"},
    {.role = Role::rope_factors_long, .gguf = "rope_factors_long", .steps = kLongDivisors},
    {.role = Role::rope_factors_short, .gguf = "rope_factors_short", .steps = kShortDivisors},
};

// Llama and related families in GGUF: config.json has the numbers from which these are computed.
inline constexpr Pattern kRopeFactors[] = {
    {.role = Role::rope_factors, .gguf = "rope_freqs", .steps = kLlama3Divisors},
    {.role = Role::rope_factors_long, .gguf = "rope_factors_long", .steps = kLongDivisors},
    {.role = Role::rope_factors_short, .gguf = "rope_factors_short", .steps = kShortDivisors},
};

inline constexpr Pattern kLongRopeFactors[] = {kRopeFactors[1], kRopeFactors[2]};

inline constexpr Step kStackGate[] = {{.verb = Verb::stack, .role = Role::stacked_gate}},
                      kStackUp[] = {{.verb = Verb::stack, .role = Role::stacked_up}},
                      kStackDown[] = {{.verb = Verb::stack, .role = Role::stacked_down}},
                      kHalveGateUp[] = {
                          {.verb = Verb::halve_rows, .role = Role::stacked_gate, .other_half = Role::stacked_up}};

// Mixtral. Early GGUF files have one tensor per expert; today's stack them.
inline constexpr Pattern kMixtral[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.block_sparse_moe.gate", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::expert_gate,
     .hugging_face = "layers.{L}.block_sparse_moe.experts.{E}.w1",
     .gguf = "blk.{L}.ffn_gate.{E}",
     .steps = kStackGate},
    {.role = Role::expert_up,
     .hugging_face = "layers.{L}.block_sparse_moe.experts.{E}.w3",
     .gguf = "blk.{L}.ffn_up.{E}",
     .steps = kStackUp},
    {.role = Role::expert_down,
     .hugging_face = "layers.{L}.block_sparse_moe.experts.{E}.w2",
     .gguf = "blk.{L}.ffn_down.{E}",
     .steps = kStackDown},
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_down, .gguf = "blk.{L}.ffn_down_exps"},
};

// Qwen. Experts are separate tensors, or stacked with gate and up together by newer programs; GGUF separates those. The way
// back is the first row that leads to a tensor: to separate ones, which every version of the libraries reads.
inline constexpr Pattern kQwenExperts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.mlp.gate", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::expert_gate, .hugging_face = "layers.{L}.mlp.experts.{E}.gate_proj", .steps = kStackGate},
    {.role = Role::expert_up, .hugging_face = "layers.{L}.mlp.experts.{E}.up_proj", .steps = kStackUp},
    {.role = Role::expert_down, .hugging_face = "layers.{L}.mlp.experts.{E}.down_proj", .steps = kStackDown},
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_gate_up,
     .hugging_face = "layers.{L}.mlp.experts.gate_up_proj",
     .bare = true,
     .steps = kHalveGateUp},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.mlp.experts.down_proj",
     .gguf = "blk.{L}.ffn_down_exps",
     .bare = true},
};

// The same experts with other routers.
inline constexpr Pattern kHunyuanExperts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.mlp.gate.wg", .gguf = "blk.{L}.ffn_gate_inp"},
    kQwenExperts[1],
    kQwenExperts[2],
    kQwenExperts[3],
    kQwenExperts[4],
    kQwenExperts[5],
    kQwenExperts[6],
    kQwenExperts[7],
    {.role = Role::shared_gate,
     .hugging_face = "layers.{L}.mlp.shared_mlp.gate_proj",
     .gguf = "blk.{L}.ffn_gate_shexp"},
    {.role = Role::shared_up, .hugging_face = "layers.{L}.mlp.shared_mlp.up_proj", .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.mlp.shared_mlp.down_proj",
     .gguf = "blk.{L}.ffn_down_shexp"},
};
inline constexpr Pattern kAfmoeExperts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.mlp.router.gate", .gguf = "blk.{L}.ffn_gate_inp"},
    kQwenExperts[1],
    kQwenExperts[2],
    kQwenExperts[3],
    kQwenExperts[4],
    kQwenExperts[5],
    kQwenExperts[6],
    kQwenExperts[7],
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mlp.expert_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
    {.role = Role::attention_gate, .hugging_face = "layers.{L}.self_attn.gate_proj", .gguf = "blk.{L}.attn_gate"},
};

// Hy 3: the router of AFMoE and the shared expert of Hunyuan.
inline constexpr Pattern kHyExperts[] = {
    kAfmoeExperts[0],
    kAfmoeExperts[1],
    kAfmoeExperts[2],
    kAfmoeExperts[3],
    kAfmoeExperts[4],
    kAfmoeExperts[5],
    kAfmoeExperts[6],
    kAfmoeExperts[7],
    kHunyuanExperts[8],
    kHunyuanExperts[9],
    kHunyuanExperts[10],
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mlp.expert_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ""},
};

// Granite: gate and up of all experts are one tensor, and there is no other form.
inline constexpr Pattern kGraniteExperts[] = {
    {.role = Role::router, .hugging_face = "layers.{L}.block_sparse_moe.router.layer", .gguf = "blk.{L}.ffn_gate_inp"},
    {.role = Role::stacked_gate, .gguf = "blk.{L}.ffn_gate_exps"},
    {.role = Role::stacked_up, .gguf = "blk.{L}.ffn_up_exps"},
    {.role = Role::stacked_gate_up, .hugging_face = "layers.{L}.block_sparse_moe.input_linear", .steps = kHalveGateUp},
    {.role = Role::stacked_down,
     .hugging_face = "layers.{L}.block_sparse_moe.output_linear",
     .gguf = "blk.{L}.ffn_down_exps"},
};

// What is added to the scores of a router, wherever the classes have it.
inline constexpr Pattern kGateBias[] = {
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mlp.gate.e_score_correction_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
};
inline constexpr Pattern kStaticsBias[] = {
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mlp.moe_statics.e_score_correction_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
};
inline constexpr Pattern kExaoneBias[] = {
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.mlp.e_score_correction_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
};
inline constexpr Pattern kMiniMaxBias[] = {
    {.role = Role::router_bias,
     .hugging_face = "layers.{L}.block_sparse_moe.e_score_correction_bias",
     .gguf = "blk.{L}.exp_probs_b",
     .bare = true,
     .gguf_end = ".bias"},
};

// Layers of a mixture without experts. GGUF's runtime does not support them.
inline constexpr Pattern kPlainLayers[] = {
    {.role = Role::gate, .hugging_face = "layers.{L}.mlp.gate_proj"},
    {.role = Role::up, .hugging_face = "layers.{L}.mlp.up_proj"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.down_proj"},
};

inline constexpr Pattern kSharedExpert[] = {
    {.role = Role::shared_router,
     .hugging_face = "layers.{L}.mlp.shared_expert_gate",
     .gguf = "blk.{L}.ffn_gate_inp_shexp"},
    {.role = Role::shared_gate,
     .hugging_face = "layers.{L}.mlp.shared_expert.gate_proj",
     .gguf = "blk.{L}.ffn_gate_shexp"},
    {.role = Role::shared_up, .hugging_face = "layers.{L}.mlp.shared_expert.up_proj", .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.mlp.shared_expert.down_proj",
     .gguf = "blk.{L}.ffn_down_shexp"},
};

// The experts for every token are one network.
inline constexpr Pattern kSharedExperts[] = {
    {.role = Role::shared_gate,
     .hugging_face = "layers.{L}.mlp.shared_experts.gate_proj",
     .gguf = "blk.{L}.ffn_gate_shexp"},
    {.role = Role::shared_up, .hugging_face = "layers.{L}.mlp.shared_experts.up_proj", .gguf = "blk.{L}.ffn_up_shexp"},
    {.role = Role::shared_down,
     .hugging_face = "layers.{L}.mlp.shared_experts.down_proj",
     .gguf = "blk.{L}.ffn_down_shexp"},
};

// A layer after the last, which predicts the token after the next.
inline constexpr Pattern kNextTokens[] = {
    {.role = Role::next_join, .hugging_face = "layers.{L}.eh_proj", .gguf = "blk.{L}.nextn.eh_proj"},
    {.role = Role::next_token_norm, .hugging_face = "layers.{L}.enorm", .gguf = "blk.{L}.nextn.enorm"},
    {.role = Role::next_layer_norm, .hugging_face = "layers.{L}.hnorm", .gguf = "blk.{L}.nextn.hnorm"},
    {.role = Role::next_embedding, .hugging_face = "layers.{L}.embed_tokens", .gguf = "blk.{L}.nextn.embed_tokens"},
    {.role = Role::next_head, .hugging_face = "layers.{L}.shared_head.head", .gguf = "blk.{L}.nextn.shared_head_head"},
    {.role = Role::next_head_norm,
     .hugging_face = "layers.{L}.shared_head.norm",
     .gguf = "blk.{L}.nextn.shared_head_norm"},
};

template <std::size_t N, std::size_t M>
constexpr std::array<Pattern, N + M> both(const Pattern (&first)[N], const Pattern (&second)[M]) {
  std::array<Pattern, N + M> all{};
  std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
  return all;
}
inline constexpr Pattern kNextTokensOfHy[] = {
    kNextTokens[0],
    kNextTokens[1],
    kNextTokens[2],
    {.role = Role::next_head_norm,
     .hugging_face = "layers.{L}.final_layernorm",
     .gguf = "blk.{L}.nextn.shared_head_norm"},
};
inline constexpr auto kEndsOfHy = both(kEnds, kNextTokensOfHy);
inline constexpr auto kEndsAndNextTokens = both(kEnds, kNextTokens);
inline constexpr auto kGateBiasAndSharedExperts = both(kGateBias, kSharedExperts);
inline constexpr auto kExaoneBiasAndSharedExperts = both(kExaoneBias, kSharedExperts);

inline constexpr Pattern kMeta[] = {
    {.role = Role::token_embedding, .meta = "tok_embeddings"},
    {.role = Role::final_norm, .meta = "norm"},
    {.role = Role::output_head, .meta = "output"},
    {.role = Role::rope_inverse, .meta = "rope.freqs", .bare = true, .steps = kOmit},
    {.role = Role::attention_norm, .meta = "layers.{L}.attention_norm"},
    {.role = Role::q, .meta = "layers.{L}.attention.wq"},
    {.role = Role::k, .meta = "layers.{L}.attention.wk"},
    {.role = Role::v, .meta = "layers.{L}.attention.wv"},
    {.role = Role::o, .meta = "layers.{L}.attention.wo"},
    {.role = Role::ffn_norm, .meta = "layers.{L}.ffn_norm"},
    {.role = Role::gate, .meta = "layers.{L}.feed_forward.w1"},
    {.role = Role::up, .meta = "layers.{L}.feed_forward.w3"},
    {.role = Role::down, .meta = "layers.{L}.feed_forward.w2"},
    {.role = Role::router, .meta = "layers.{L}.feed_forward.gate"},
    {.role = Role::expert_gate, .meta = "layers.{L}.feed_forward.experts.{E}.w1", .steps = kStackGate},
    {.role = Role::expert_up, .meta = "layers.{L}.feed_forward.experts.{E}.w3", .steps = kStackUp},
    {.role = Role::expert_down, .meta = "layers.{L}.feed_forward.experts.{E}.w2", .steps = kStackDown},
};

inline constexpr Pattern kTinyLlama[] = {
    {.role = Role::token_embedding, .tiny_llama = "embedding"},
    {.role = Role::position_embedding, .tiny_llama = "position_embedding"},
    {.role = Role::q, .tiny_llama = "layers.{L}.attention.query"},
    {.role = Role::k, .tiny_llama = "layers.{L}.attention.key"},
    {.role = Role::v, .tiny_llama = "layers.{L}.attention.value"},
    {.role = Role::o, .tiny_llama = "layers.{L}.attention.output"},
    {.role = Role::up, .tiny_llama = "layers.{L}.ffn.linear1"},
    {.role = Role::down, .tiny_llama = "layers.{L}.ffn.linear2"},
    {.role = Role::attention_norm, .tiny_llama = "layers.{L}.norm1"},
    {.role = Role::ffn_norm, .tiny_llama = "layers.{L}.norm2"},
    {.role = Role::output_head, .tiny_llama = "output"},
};

// All groups; if a name has several roles, the first group decides.
inline constexpr Patterns kAllPatterns[] = {
    kEnds, kAttention, kFinalNorm, kPreNorms, kPostNorms, kSandwichNorms, kQkNorms, kGated, kFused, kRopeFactors,
    kMixtral, kQwenExperts, kPlainLayers, kSharedExpert, kMeta, kTinyLlama,
    // Rows of later families, whose names the first ones do not have.
    kLatentAttention, kNormsOfGlm, kQkNormsOfHunyuan, kConvolved, kPhi2, kFusedGate, kGraniteExperts, kGateBias,
    kStaticsBias, kMiniMaxBias, kSharedExperts, kNextTokens, kIndexer, kNormsOfAfmoe, kHunyuanExperts, kAfmoeExperts,
    kExaoneBias};

}  // namespace tare::arch
