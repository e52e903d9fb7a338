// Sorts tensors of a list that is in name order into the order of their bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "tare/model.hpp"

namespace tare {

// Moves tensors[order[i]] to tensors[i].
void put_in_order(std::vector<Tensor>& tensors, std::vector<std::uint32_t> order);

}  // namespace tare
