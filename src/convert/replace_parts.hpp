// Replaces parts of a model, for callers that write a model with some of its parts changed.
#pragma once

#include <optional>
#include <vector>

#include "tare/model.hpp"

namespace tare {

// Nothing: the part is kept.
struct NewParts {
  std::optional<Map> metadata = {};
  std::optional<Config> config = {};
  std::optional<Vocabulary> vocabulary = {};
  std::optional<std::vector<Attachment>> attachments = {};
  std::optional<Blob> config_json = {};  // replaces one file; the others are kept
};

// Replaces these parts. Unless the files are replaced as well, config.json is changed to state the new config, and other
// files that repeat an old part are omitted. Returns the keys of `metadata` that describe the model and have a new value:
// AdaptOptions::values sets them. Throws `meta.form` if config.json cannot state the config.
Map replace_parts(Model& model, NewParts parts);

}  // namespace tare
