// Runs of halves, by the processor's own instructions where it has them: the values of base/half.hpp.
#pragma once

#include <cstddef>

namespace tare {

// `halves`: little-endian, of any alignment.
void halves_to_floats(const std::byte* halves, std::size_t count, float* out);

}  // namespace tare
