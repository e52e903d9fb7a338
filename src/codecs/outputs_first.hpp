// Weights that are stored output by output, although their tensor has the outputs last.
#pragma once

#include <optional>

#include "tare/model.hpp"

namespace tare::codec {

// The same weights and bytes as matrices [experts][outputs][inputs], whose rows decode one by one. Nothing if the tensor
// is not stored so.
std::optional<Tensor> outputs_first(const Tensor& tensor);

}  // namespace tare::codec
