// The type that config.json says the weights have: libraries load them as that, whatever the files hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tare/dtype.hpp"

namespace tare::resources {

// The text with `dtype` (or `torch_dtype`) saying `type`, at the top and in the configs inside (text_config, ...). All
// other bytes stay as they are. Nothing where nothing is to be changed, where none is stated, or for a type that such files
// have no word for. Throws what parsing throws.
struct RestatedDtype {
  std::string text, before;  // before: the first word that was replaced
};
std::optional<RestatedDtype> restate_dtype(std::string_view config_json, DType type);
// "bfloat16"; empty for a type that is no float.
std::string_view name_in_config(DType type);

}  // namespace tare::resources
