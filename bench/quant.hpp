// The jobs about quantized tensors.
#pragma once

#include "measure.hpp"

namespace bench {

// Decoding and row products of MCF's methods on one core, against copying and reading memory.
void quant(int rounds, Table& table);

}  // namespace bench
