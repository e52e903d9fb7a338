// What a model's files state about the quantization of its weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tare/model.hpp"

namespace tare::resources {

struct StatedQuantization {
  std::string method;  // "gptq", as quantization_config.quant_method has it
  std::optional<std::uint64_t> bits, group;
  std::string file;
  Map config;  // all that is said
};

// Of config.json (quantization_config, compression_config, MLX's quantization), quantize_config.json (AutoGPTQ),
// quant_config.json (AutoAWQ) and hf_quant_config.json (ModelOpt). Nothing where none states one, or it does not parse.
std::optional<StatedQuantization> stated_quantization(const Model& model);
// The same of the files in a directory, for weights that were named by their own path.
std::optional<StatedQuantization> stated_quantization_in(const std::string& directory);

}  // namespace tare::resources
