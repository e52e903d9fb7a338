// What an append does to everything but the tensors.
#pragma once

#include <string_view>

#include "tare/model.hpp"

namespace tare {

// Metadata, config, vocabulary and attachments of both. What is added wins for metadata keys; anything else that is there
// already and differs is refused under `rule`.
Model merged_rest(const Model& old, const Model& extra, std::string_view rule);
// Throws `rule` if both have a tensor of one name.
void refuse_known_names(const Model& old, const Model& extra, std::string_view rule);

}  // namespace tare
