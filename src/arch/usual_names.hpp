// Recognises the token table, the output head and norms by name alone, for models of any family, known or not.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tare/model.hpp"

namespace tare::arch {

bool is_embedding(std::string_view name);
bool is_head(std::string_view name);
bool is_norm(std::string_view name);

// Embeddings and heads as globs, for recipes. They match more in one way (names of GGUF and Tiny Llama, tables with a
// prefix before "embed_tokens") and less in another (encoders), because a rule must not match a tensor by mistake.
std::span<const std::string_view> embedding_globs();
std::span<const std::string_view> head_globs();

// Whether the output head is the token table: there is a table and no head. Nothing if there is no table.
std::optional<bool> ties_embeddings(const Model& model);

}  // namespace tare::arch
