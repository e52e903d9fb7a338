// The range and the first values of integers, exactly.
#pragma once

#include <cstddef>
#include <optional>

#include "tare/inspect.hpp"

namespace tare::inspect {

// Nothing for a type that is not of integers. One pass over the data.
std::optional<WholeNumbers> whole_numbers(const Component& data, std::size_t first, unsigned threads);

}  // namespace tare::inspect
