// Decodes packed weights of other programs, and compares with copying the output.
#pragma once

#include "measure.hpp"

namespace bench {

void packs(int rounds, Table& table);

}  // namespace bench
