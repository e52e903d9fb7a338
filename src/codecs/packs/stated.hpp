// What the files of a model state about how its weights were packed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tare/value.hpp"

namespace tare::codec::packs {

struct Stated {
  std::string method = {};  // "gptq", as in quantization_config.quant_method, in lower case; empty: not stated
  Map config = {};          // the whole config
  // The weights entry of compressed-tensors' config_groups, if it is the same for all groups of layers.
  std::optional<Map> weights = {};
  std::optional<std::uint64_t> bits = {}, group = {};
  std::string file = {};  // where it was found; empty: no file states anything

  explicit operator bool() const { return !file.empty(); }
};

// The value of a key in the config; null (nothing) if it does not exist or has another type.
const std::string* stated_text(const Stated& stated, std::string_view key);
std::optional<std::uint64_t> stated_count(const Map& config, std::string_view key);
// A whole number in a config; nothing if the key does not exist. Throws Refusal `rule` for any other value.
std::optional<std::int64_t> stated_whole(const Map& config, std::string_view key, std::string_view rule);
// Whether the config has exceptions for single layers, so that its values need not be true for each layer.
bool has_exceptions(const Stated& stated);
// The value of Stated::weights in a config. Compares all groups, of which there may be as many as sets of arrays: it is
// called once for a model.
std::optional<Map> weights_of_groups(const Map& config);

}  // namespace tare::codec::packs
