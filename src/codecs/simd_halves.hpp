// Converts runs of f16 with the processor's instructions, if it has them. The values are those of base/half.hpp.
#pragma once

#include <cstddef>

namespace tare {

// `halves`: little-endian, of any alignment.
void halves_to_floats(const std::byte* halves, std::size_t count, float* out);

}  // namespace tare
