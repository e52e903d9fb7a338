// The packing that a model's files state for its weights.
#pragma once

#include <string>
#include <string_view>

#include "codecs/packs/find.hpp"
#include "tare/model.hpp"

namespace tare::resources {

// The metadata key under which a container keeps the config if config.json is not attached: JSON, as in config.json.
inline constexpr std::string_view kPackingKey = "quantization_config";

// Reads config.json (quantization_config, compression_config, MLX's quantization), quantize_config.json (AutoGPTQ),
// quant_config.json (AutoAWQ) and hf_quant_config.json (ModelOpt), then the metadata, then, for a weight file that was
// opened by its own path, the files in its directory. Returns an empty statement if none has one or it does not parse.
codec::packs::Stated stated_packing(const Model& model);
// Reads the model's own files only.
codec::packs::Stated stated_in_files(const Model& model);
// The config as the value of kPackingKey.
std::string packing_text(const codec::packs::Stated& stated);

// Finds packed weights among the plain arrays of a model, with what its files state.
codec::packs::Found find_packed(const Model& model);

}  // namespace tare::resources
