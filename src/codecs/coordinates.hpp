// Coordinate lists in which a place appears twice: some containers add up its entries, some forbid them. Implemented in
// sparse/coo.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tare/codec.hpp"

namespace tare::codec {

enum class Repeats : std::uint8_t { added_up, forbidden };

// Reports broken data rules of a sparse_coo tensor, which has passed `check`.
void verify_coo(const Tensor& tensor, const std::function<void(Problem)>& report, Repeats repeats);
// Reports the first two entries at the same place; nothing if all places differ. Reads all coordinates. The tensor has
// passed `check`.
std::optional<Problem> find_repeated_place(const Tensor& tensor);

}  // namespace tare::codec
