// Reads the sizes of a model's tensors from config.json.
#pragma once

#include <optional>

#include "arch/expected.hpp"
#include "tare/change.hpp"
#include "tare/model.hpp"

namespace tare {

// Returns the config.json of a model in its directory's form: its own, or the one that is made of its config. Nothing
// without either, and for a file that does not parse.
std::optional<Map> config_json_of(const Model& model);
// The sizes of the tensors that such a config.json implies.
arch::Sizes configured_sizes(const arch::Family& family, const Map& config_json);
// A remark about tensors that the class in config.json does not read, as require_configured() makes it; nothing if there
// are none. The model has all that the class does read, and no packed weights.
std::optional<Change> surplus_tensors(const Model& model);

}  // namespace tare
