// Removes statements about the quantization of the weights from a model's files once the weights are plain again:
// libraries would look for codes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

struct UnquantizedConfig {
  std::string text;
  std::vector<std::string> keys;  // the keys that were removed
};
// Returns config.json without quantization_config and the like, at the top and in the text model of a multimodal one.
// All other bytes are kept. Returns nothing if there is nothing to remove. Throws what parsing throws.
std::optional<UnquantizedConfig> without_quantization(std::string_view config_json);

// Returns whether a file of this name only states a quantization: quantize_config.json and the like.
bool is_quantization_file(std::string_view name);

}  // namespace tare::resources
