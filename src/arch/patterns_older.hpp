// Names of families from before Llama. GPT-2 and those after it call the model `transformer`, and its layers `h`.
#pragma once

#include "arch/patterns.hpp"

namespace tare::arch {

// Matrices of Conv1D modules are [inputs][outputs].
inline constexpr Step kTranspose[] = {{.verb = Verb::transpose}};
// Each group of heads has its q, k and v together.
inline constexpr Step kSortHeads[] = {{.verb = Verb::sort_heads}};

inline constexpr Pattern kGptEnds[] = {
    {.role = Role::token_embedding, .hugging_face = "wte", .gguf = "token_embd"},
    {.role = Role::position_embedding, .hugging_face = "wpe", .gguf = "position_embd"},
    kEnds[1],
    {.role = Role::final_norm, .hugging_face = "ln_f", .gguf = "output_norm"},
};
inline constexpr Pattern kGptNorms[] = {
    {.role = Role::attention_norm, .hugging_face = "h.{L}.ln_1", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "h.{L}.ln_2", .gguf = "blk.{L}.ffn_norm"},
    // Which tokens see which: early files have it as a tensor.
    {.role = Role::attention_mask, .hugging_face = "h.{L}.attn.bias", .bare = true, .steps = kOmit},
    {.role = Role::attention_masked, .hugging_face = "h.{L}.attn.masked_bias", .bare = true, .steps = kOmit},
};
inline constexpr Pattern kGpt2[] = {
    {.role = Role::qkv, .hugging_face = "h.{L}.attn.c_attn", .gguf = "blk.{L}.attn_qkv", .steps = kTranspose},
    {.role = Role::o, .hugging_face = "h.{L}.attn.c_proj", .gguf = "blk.{L}.attn_output", .steps = kTranspose},
    {.role = Role::up, .hugging_face = "h.{L}.mlp.c_fc", .gguf = "blk.{L}.ffn_up", .steps = kTranspose},
    {.role = Role::down, .hugging_face = "h.{L}.mlp.c_proj", .gguf = "blk.{L}.ffn_down", .steps = kTranspose},
};
inline constexpr Pattern kGptBigCode[] = {
    {.role = Role::qkv, .hugging_face = "h.{L}.attn.c_attn", .gguf = "blk.{L}.attn_qkv"},
    {.role = Role::o, .hugging_face = "h.{L}.attn.c_proj", .gguf = "blk.{L}.attn_output"},
    {.role = Role::up, .hugging_face = "h.{L}.mlp.c_fc", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "h.{L}.mlp.c_proj", .gguf = "blk.{L}.ffn_down"},
};

inline constexpr Pattern kGptNeoX[] = {
    {.role = Role::token_embedding, .hugging_face = "embed_in", .gguf = "token_embd"},
    {.role = Role::output_head, .hugging_face = "embed_out", .gguf = "output"},
    {.role = Role::final_norm, .hugging_face = "final_layer_norm", .gguf = "output_norm"},
    kPreNorms[0],
    kPreNorms[1],
    {.role = Role::qkv,
     .hugging_face = "layers.{L}.attention.query_key_value",
     .gguf = "blk.{L}.attn_qkv",
     .steps = kSortHeads},
    {.role = Role::o, .hugging_face = "layers.{L}.attention.dense", .gguf = "blk.{L}.attn_output"},
    {.role = Role::up, .hugging_face = "layers.{L}.mlp.dense_h_to_4h", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.dense_4h_to_h", .gguf = "blk.{L}.ffn_down"},
    {.role = Role::attention_mask, .hugging_face = "layers.{L}.attention.bias", .bare = true, .steps = kOmit},
    {.role = Role::attention_masked, .hugging_face = "layers.{L}.attention.masked_bias", .bare = true, .steps = kOmit},
    {.role = Role::rope_inverse,
     .hugging_face = "layers.{L}.attention.rotary_emb.inv_freq",
     .bare = true,
     .steps = kOmit},
};

// Falcon and Bloom.
inline constexpr Pattern kSelfAttention[] = {
    {.role = Role::token_embedding, .hugging_face = "word_embeddings", .gguf = "token_embd"},
    kEnds[1],
    {.role = Role::final_norm, .hugging_face = "ln_f", .gguf = "output_norm"},
    {.role = Role::qkv,
     .hugging_face = "h.{L}.self_attention.query_key_value",
     .gguf = "blk.{L}.attn_qkv",
     .steps = kSortHeads},
    {.role = Role::o, .hugging_face = "h.{L}.self_attention.dense", .gguf = "blk.{L}.attn_output"},
    {.role = Role::up, .hugging_face = "h.{L}.mlp.dense_h_to_4h", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "h.{L}.mlp.dense_4h_to_h", .gguf = "blk.{L}.ffn_down"},
};
inline constexpr Pattern kBloomNorms[] = {
    {.role = Role::table_norm, .hugging_face = "word_embeddings_layernorm", .gguf = "token_embd_norm"},
    {.role = Role::attention_norm, .hugging_face = "h.{L}.input_layernorm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::ffn_norm, .hugging_face = "h.{L}.post_attention_layernorm", .gguf = "blk.{L}.ffn_norm"},
};
// One norm for both, or one for each in the larger models.
inline constexpr Pattern kFalconNorms[] = {
    {.role = Role::parallel_norm, .hugging_face = "h.{L}.input_layernorm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::own_ffn_norm,
     .hugging_face = "h.{L}.ln_mlp",
     .gguf = "blk.{L}.attn_norm",
     .beside = Role::own_attention_norm},
    {.role = Role::own_attention_norm, .hugging_face = "h.{L}.ln_attn", .gguf = "blk.{L}.attn_norm_2"},
};

}  // namespace tare::arch
