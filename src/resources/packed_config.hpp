// The quantization that a model's files state for its weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/packed_sets.hpp"
#include "tare/model.hpp"

namespace tare::resources {

struct StatedQuantization {
  std::string method;  // "gptq", as in quantization_config.quant_method
  std::optional<std::uint64_t> bits, group;
  std::string file;
  Map config;  // the whole config
};

// The metadata key under which a container keeps the config if config.json is not attached: JSON, as in config.json.
inline constexpr std::string_view kPackingKey = "quantization_config";

// Reads config.json (quantization_config, compression_config, MLX's quantization), quantize_config.json (AutoGPTQ),
// quant_config.json (AutoAWQ) and hf_quant_config.json (ModelOpt), then the metadata, then, for a weight file that was
// opened by its own path, the files in its directory. Returns nothing if none states a quantization or it does not
// parse.
std::optional<StatedQuantization> stated_quantization(const Model& model);
// The same, in the form that decoders take.
StatedPacking stated_packing(const Model& model);
// Reads the model's own files only.
std::optional<StatedQuantization> stated_in_files(const Model& model);
// The config as the value of kPackingKey.
std::string packing_text(const StatedQuantization& stated);

}  // namespace tare::resources
