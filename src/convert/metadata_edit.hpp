// Edits the metadata of a model as a file of a container would have it.
#pragma once

#include <span>
#include <vector>

#include "tare/metadata.hpp"

namespace tare {

// Like `edit_metadata`, for a model that will become such a file and need not fit it yet.
std::vector<MetadataChange> edit_as(Model& model, const Format& format, std::span<const MetadataEdit> edits);

}  // namespace tare
