// ALT: reads unaligned data into aligned buffers, and writes a file with a cast.
#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

// `gib`: the size of the bf16 model that is converted.
void bench_alt(const std::string& directory, double gib, int rounds, Table& table);

}  // namespace bench
