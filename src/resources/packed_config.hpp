// What a model's files state about the quantization of its weights.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/packed_sets.hpp"
#include "tare/model.hpp"

namespace tare::resources {

struct StatedQuantization {
  std::string method;  // "gptq", as quantization_config.quant_method has it
  std::optional<std::uint64_t> bits, group;
  std::string file;
  Map config;  // all that is said
};

// The metadata key under which a container has the same where config.json does not come along: JSON, as config.json has it.
inline constexpr std::string_view kPackingKey = "quantization_config";

// Of config.json (quantization_config, compression_config, MLX's quantization), quantize_config.json (AutoGPTQ),
// quant_config.json (AutoAWQ) and hf_quant_config.json (ModelOpt), of the metadata, or, for weights that were named by their own
// path, of the files beside them. Nothing where none states one, or it does not parse.
std::optional<StatedQuantization> stated_quantization(const Model& model);
// The same, as those who decode take it.
StatedPacking stated_packing(const Model& model);
// Of the model's own files alone.
std::optional<StatedQuantization> stated_in_files(const Model& model);
// As the value of kPackingKey.
std::string packing_text(const StatedQuantization& stated);

}  // namespace tare::resources
