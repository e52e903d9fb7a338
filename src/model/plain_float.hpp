#pragma once

#include "tare/model.hpp"

namespace tare {

// Whether the tensor is one dense array of f64, f32, f16 or bf16.
inline bool is_plain_float(const Tensor& tensor) {
  return tensor.is_dense() && tensor.components.size() == 1 && tensor.components.front().type.empty() &&
         is_float(tensor.components.front().dtype);
}

}  // namespace tare
