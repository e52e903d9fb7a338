// Which tensors hold the token table, the matrix before the logits, and norms, by name alone: for models of any family,
// known or not.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tare/model.hpp"

namespace tare::arch {

bool is_embedding(std::string_view name);
bool is_head(std::string_view name);
bool is_norm(std::string_view name);

// The same two kinds as globs, for recipes. They reach further in one way (the names of GGUF and Tiny Llama, tables with
// something before "embed_tokens") and less far in another (encoders), because a rule must not take a tensor by mistake.
std::span<const std::string_view> embedding_globs();
std::span<const std::string_view> head_globs();

// Whether the head is the token table: there is a table and no other head. Nothing where there is no table to tell by.
std::optional<bool> ties_embeddings(const Model& model);

}  // namespace tare::arch
