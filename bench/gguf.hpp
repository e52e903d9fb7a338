// Compares GGUF and ggml's types with ggml itself, if built in (TARE_GGML), and with the Python package `gguf`.
#pragma once

#include <string>

#include "measure.hpp"

namespace bench {

// `open`: a file with a large vocabulary. `types`: encoding, decoding and products, on one core. `quantize`: a whole
// file, compared with the program in LLAMA_QUANTIZE.
void gguf(const std::string& directory, int rounds, Table& table);

}  // namespace bench
