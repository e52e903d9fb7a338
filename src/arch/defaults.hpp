// What the transformers library assumes where config.json is silent, as data: a row for each key, by model_type.
//
// Only of keys that change what a model computes. Sizes that its tensors have are not assumed: a config.json without them is
// refused (Family::required). tests/arch/defaults.py compares the rows with the installed library.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace tare::arch {

using Constant = std::variant<bool, std::int64_t, double, std::string_view>;

struct Assumed {
  std::string_view key;  // of config.json; "a.b" is the key b of an object a, which is assumed as a whole
  Constant value;
};

// Of a model_type, or of the one that a model of several parts has for its language; empty: nothing is known of it.
std::span<const Assumed> assumed_keys(std::string_view model_type);

}  // namespace tare::arch
