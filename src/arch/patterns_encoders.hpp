// Names of encoders: BERT and those after it.
#pragma once

#include "arch/patterns.hpp"

namespace tare::arch {

// GGUF's runtime takes the vectors of the tokens as they are: what makes one vector of them, heads for other tasks, and
// numbers that count positions are kept for the way back. Beginnings of names, without root.
inline constexpr std::string_view kBertAside[] = {"embeddings.position_ids", "embeddings.token_type_ids", "pooler.",
                                                  "cls.", "lm_head."},
                                  kModernBertAside[] = {"head.", "decoder."};

// The first rows of the table of positions belong to padding.
inline constexpr Step kTrimPositions[] = {{.verb = Verb::trim_rows, .key = "pad_token_id"}};

inline constexpr Pattern kBertEnds[] = {
    {.role = Role::token_embedding, .hugging_face = "embeddings.word_embeddings", .gguf = "token_embd"},
    {.role = Role::position_embedding,
     .hugging_face = "embeddings.position_embeddings",
     .gguf = "position_embd",
     .steps = kTrimPositions},
    {.role = Role::token_types, .hugging_face = "embeddings.token_type_embeddings", .gguf = "token_types"},
    {.role = Role::table_norm, .hugging_face = "embeddings.LayerNorm", .gguf = "token_embd_norm"},
    // A head for classes: one matrix, or two.
    {.role = Role::classifier_alone, .hugging_face = "classifier", .gguf = "cls.output"},
    {.role = Role::classifier, .hugging_face = "classifier.dense", .gguf = "cls"},
    {.role = Role::classifier_out,
     .hugging_face = "classifier.out_proj",
     .gguf = "cls.output",
     .beside = Role::classifier},
};
inline constexpr Pattern kBertLayers[] = {
    {.role = Role::q, .hugging_face = "encoder.layer.{L}.attention.self.query", .gguf = "blk.{L}.attn_q"},
    {.role = Role::k, .hugging_face = "encoder.layer.{L}.attention.self.key", .gguf = "blk.{L}.attn_k"},
    {.role = Role::v, .hugging_face = "encoder.layer.{L}.attention.self.value", .gguf = "blk.{L}.attn_v"},
    {.role = Role::o, .hugging_face = "encoder.layer.{L}.attention.output.dense", .gguf = "blk.{L}.attn_output"},
    {.role = Role::post_attention_norm,
     .hugging_face = "encoder.layer.{L}.attention.output.LayerNorm",
     .gguf = "blk.{L}.attn_output_norm"},
    {.role = Role::up, .hugging_face = "encoder.layer.{L}.intermediate.dense", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "encoder.layer.{L}.output.dense", .gguf = "blk.{L}.ffn_down"},
    {.role = Role::post_ffn_norm,
     .hugging_face = "encoder.layer.{L}.output.LayerNorm",
     .gguf = "blk.{L}.layer_output_norm"},
};
// ModernBERT: rows of q, k and v together, and of what goes through the activation and what it is multiplied with.
inline constexpr Pattern kModernBert[] = {
    {.role = Role::token_embedding, .hugging_face = "embeddings.tok_embeddings", .gguf = "token_embd"},
    {.role = Role::table_norm, .hugging_face = "embeddings.norm", .gguf = "token_embd_norm"},
    {.role = Role::final_norm, .hugging_face = "final_norm", .gguf = "output_norm"},
    {.role = Role::attention_norm, .hugging_face = "layers.{L}.attn_norm", .gguf = "blk.{L}.attn_norm"},
    {.role = Role::qkv, .hugging_face = "layers.{L}.attn.Wqkv", .gguf = "blk.{L}.attn_qkv"},
    {.role = Role::o, .hugging_face = "layers.{L}.attn.Wo", .gguf = "blk.{L}.attn_output"},
    {.role = Role::ffn_norm, .hugging_face = "layers.{L}.mlp_norm", .gguf = "blk.{L}.ffn_norm"},
    {.role = Role::gate_up, .hugging_face = "layers.{L}.mlp.Wi", .gguf = "blk.{L}.ffn_up"},
    {.role = Role::down, .hugging_face = "layers.{L}.mlp.Wo", .gguf = "blk.{L}.ffn_down"},
    {.role = Role::classifier, .hugging_face = "head.dense", .gguf = "cls"},
    {.role = Role::classifier_norm, .hugging_face = "head.norm", .gguf = "cls.norm"},
    {.role = Role::classifier_alone, .hugging_face = "classifier", .gguf = "cls.output"},
};

}  // namespace tare::arch
