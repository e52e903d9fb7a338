// Editing the metadata of a model as the file of a container would have it.
#pragma once

#include <span>
#include <vector>

#include "tare/metadata.hpp"

namespace tare {

// As `edit_metadata`, of a model that is about to become such a file and need not fit it yet.
std::vector<MetadataChange> edit_as(Model& model, const Format& format, std::span<const MetadataEdit> edits);

}  // namespace tare
