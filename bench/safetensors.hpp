// The job `safetensors` of the benchmark.
#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

void bench_safetensors(const std::string& directory, int rounds, Table& table);

}  // namespace bench
