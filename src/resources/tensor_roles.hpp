// Which tensors hold the token table and the matrix in front of the logits, by the names that families give them.
#pragma once

#include <optional>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

bool is_embedding(std::string_view name);
bool is_head(std::string_view name);
// Whether the head is the token table: there is a table and no other head. Nothing where there is no table to tell by.
std::optional<bool> ties_embeddings(const Model& model);

}  // namespace tare::resources
