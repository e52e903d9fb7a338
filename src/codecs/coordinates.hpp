// Lists of coordinates in which a place appears twice: some containers add the entries up, some forbid them. Implemented by
// sparse/coo.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tare/codec.hpp"

namespace tare::codec {

enum class Repeats : std::uint8_t { added_up, forbidden };

// The data rules of a sparse_coo tensor, which has passed `check`.
void verify_coo(const Tensor& tensor, const std::function<void(Problem)>& report, Repeats repeats);
// The first two entries of such a tensor at one place; nothing if there are none. Reads all coordinates.
std::optional<Problem> find_repeated_place(const Tensor& tensor);

}  // namespace tare::codec
