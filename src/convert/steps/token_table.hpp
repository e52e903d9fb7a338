#pragma once

#include <algorithm>

#include "arch/names.hpp"
#include "tare/model.hpp"

namespace tare {

// Whether a tensor has one row for each token of the vocabulary.
inline bool has_token_table(const Model& model) {
  return std::ranges::any_of(
      model.tensors, [](const Tensor& tensor) { return arch::role_of(tensor.name) == arch::Role::token_embedding; });
}

}  // namespace tare
