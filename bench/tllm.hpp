// Tiny Llama in its default configuration: loading, one token, two cores, a prompt.
#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

void bench_tllm(const std::string& directory, int rounds, Table& table);

}  // namespace bench
