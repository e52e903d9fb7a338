// Merges everything but the tensors when an append adds a model to a file.
#pragma once

#include <string_view>

#include "tare/model.hpp"

namespace tare {

// Returns the metadata, config, vocabulary and attachments of both models. For a metadata key that both have, the value
// of `extra` is used; any other difference throws `rule`, and so does a tensor that both have. Both models have packed
// weights as arrays; throws `pack.changed` if a reader of `file`, which has the old tensors, would find other weights in
// one of the two once it has all tensors.
Model merged_rest(const Model& old, const Model& extra, const SourcePtr& file, std::string_view rule);

}  // namespace tare
