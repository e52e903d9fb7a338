// The exact range and first values of integers.
#pragma once

#include <cstddef>
#include <optional>

#include "tare/inspect.hpp"

namespace tare::inspect {

// Nothing if the type is not an integer. One pass over the data.
std::optional<WholeNumbers> whole_numbers(const Component& data, std::size_t first, unsigned threads);

}  // namespace tare::inspect
