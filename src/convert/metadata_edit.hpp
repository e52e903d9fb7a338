// Edits the metadata of a model as a file of a container would have it.
#pragma once

#include <span>
#include <vector>

#include "formats/format.hpp"
#include "tare/metadata.hpp"

namespace tare {

// Which of the requested edits are about keys that describe the model (they change its config, its vocabulary and the
// files that repeat those), and which are about plain metadata of a file of `target`. Throws `meta.form`, and
// `meta.twice` for two values for one key.
struct Settings {
  Settings(const Model& model, const Format& target, std::span<const MetadataEdit> edits);
  const Format* form;  // whose keys describe the model; null: none
  std::vector<MetadataEdit> of_form, plain;
};

// Like `edit_metadata`, for a model that will become such a file and need not fit it yet.
std::vector<MetadataChange> edit_as(Model& model, const Format& format, std::span<const MetadataEdit> edits);

}  // namespace tare
