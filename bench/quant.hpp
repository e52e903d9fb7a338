// The jobs on quantized tensors.
#pragma once

#include "measure.hpp"

namespace bench {

// Decodes, and multiplies rows, with MCF's methods on one core, and compares with copying and reading memory.
void quant(int rounds, Table& table);

}  // namespace bench
