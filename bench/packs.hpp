// Decoding weights that other programs packed, beside a copy of what is written.
#pragma once

#include "measure.hpp"

namespace bench {

void packs(int rounds, Table& table);

}  // namespace bench
