// What Tare does with the models of each family: one list for the command, for Python and for documents.
#pragma once

#include <string_view>
#include <vector>

#include "arch/families.hpp"

namespace tare::arch {

// A family whose models can be converted from Hugging Face's conventions to those of llama.cpp and back.
struct Supported {
  std::string_view title, gguf;
  std::vector<std::string_view> model_types, classes;  // "model_type" and entries of "architectures" in config.json
  std::vector<std::string_view> computed;              // the model_types whose models src/run computes
  std::string_view checked;                            // "llama.cpp" and transformers, or only "tests" of Tare's own

  // Whether one of its names is this one.
  bool is_called(std::string_view name) const;
};
// Finds a family by any of its names, or by GGUF's, and returns its first model_type; empty if there is none.
std::string_view type_of_family(std::string_view name);
// Sorted by GGUF's names.
std::vector<Supported> supported_families();

}  // namespace tare::arch
