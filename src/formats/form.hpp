// Which container's keys describe a model, wherever it is kept.
#pragma once

#include <string_view>

#include "formats/format.hpp"

namespace tare {

// Returns the container whose keys describe the model: that of its file, or the one whose conventions its tensors follow
// (a zTensor file made from a GGUF file). Null: none.
const Format* form_of(const Model& model);

// Throws `meta.form` for a key that would be plain metadata of this model, although the model states the same in its
// config, its vocabulary or their files: those would count, and the key would change nothing.
void require_plain_key(const Model& model, std::string_view key);

}  // namespace tare
