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

// Replaces these parts.
//
// If files are given, the parts that they describe are read from them, as for a directory; a config or a vocabulary that
// is given as well must agree with them, or `config.contradiction` or `tokenizer.contradiction` is thrown. A model that
// follows the conventions of another container than a directory gets a directory's form then; `meta.form` is thrown if it
// has none. If no files are given, config.json is changed to state the new config (`meta.form` if it cannot), and other
// files that repeat an old part are omitted.
//
// Returns the keys of `metadata` that describe the model and have a new value: AdaptOptions::values sets them.
Map replace_parts(Model& model, NewParts parts);

}  // namespace tare
