// Tensors of a list that goes by name, in the order of their bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "tare/model.hpp"

namespace tare {

// Makes tensors[i] what tensors[order[i]] was.
void put_in_order(std::vector<Tensor>& tensors, std::vector<std::uint32_t> order);

}  // namespace tare
