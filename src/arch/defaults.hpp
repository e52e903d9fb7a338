// What the transformers library assumes where config.json is silent, as data: a row for each key, by model_type.
//
// Only keys that change what a model computes. Sizes that its tensors have are not assumed: where one is needed, a config.json
// without it is refused. tests/arch/defaults.py compares the rows with the installed library.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace tare::arch {

using Constant = std::variant<bool, std::int64_t, double, std::string_view>;

struct Assumed {
  std::string_view key;  // in config.json; "a.b" is the key b of an object a, which is assumed as a whole
  Constant value;
};

// The rows of a model_type; for a model of several parts, those of its language model. Empty for unknown types.
std::span<const Assumed> assumed_keys(std::string_view model_type);
// Whether rope_parameters has an object for each kind of layer. The other kind's theta is then rope_local_base_freq in the table,
// which is also a key of Gemma 3's older files.
bool has_ropes_by_layer(std::string_view model_type);

}  // namespace tare::arch
