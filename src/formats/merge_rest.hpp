// Merges everything but the tensors when an append adds a model to a file.
#pragma once

#include <string_view>

#include "tare/model.hpp"

namespace tare {

// Returns the metadata, config, vocabulary and attachments of both models. For a metadata key that both have, the value
// of `extra` is used; any other difference throws `rule`, and so does a tensor that both have.
Model merged_rest(const Model& old, const Model& extra, std::string_view rule);

}  // namespace tare
