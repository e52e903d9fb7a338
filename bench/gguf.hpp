// GGUF and ggml's types beside ggml itself, where it was built in (TARE_GGML), and the Python package `gguf`.
#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

// `open`: a file with a large vocabulary. `types`: encoding, decoding and products, on one core. `quantize`: a whole file
// beside the program that LLAMA_QUANTIZE names.
void gguf(const std::string& directory, int rounds, Table& table);

}  // namespace bench
