// What the files of a model say about the quantization of its weights, taken away once they are plain again: libraries would
// look for codes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

struct UnquantizedConfig {
  std::string text;
  std::vector<std::string> keys;  // that were removed
};
// The text of a config.json without quantization_config and its like, at the top and for the model of text inside one for
// several. All other bytes stay as they are. Nothing if nothing is said. Throws what parsing throws.
std::optional<UnquantizedConfig> without_quantization(std::string_view config_json);

// Whether a file of this name says nothing else: quantize_config.json and its like.
bool is_quantization_file(std::string_view name);

}  // namespace tare::resources
