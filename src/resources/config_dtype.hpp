// The type that config.json states for the weights: libraries load them as that type, whatever the files hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tare/dtype.hpp"

namespace tare::resources {

// Replaces the value of `dtype` (or `torch_dtype`), at the top and in nested configs (text_config, ...). All other
// bytes are kept. Returns nothing if there is nothing to change, if no type is stated, or if such files have no word
// for the type. Throws what parsing throws.
struct RestatedDtype {
  std::string text, before;  // before: the first word that was replaced
};
std::optional<RestatedDtype> restate_dtype(std::string_view config_json, DType type);
// "bfloat16"; empty for a type that is not a float.
std::string_view name_in_config(DType type);

}  // namespace tare::resources
