// What a model is in a Hugging Face directory: names, order of rows, files. `adapt` does this for a target that is a directory;
// whoever hands a model to a library that reads such directories does the same by the same functions.
#pragma once

#include <vector>

#include "tare/convert.hpp"

namespace tare {

// The format that is a directory and nothing else.
bool is_directory(const Format& format);

// Gives tensors the names and the order of rows of Hugging Face, and makes the files that say the rest, whichever container the
// model's conventions are those of. Throws `convert.names` for what is not known.
std::vector<Renamed> release_conventions(Model& model, std::vector<Change>& lines);

// For two models that have no name of a tensor in common, a GGUF file and the directory it was made from: gives the tensors of
// both the names and the order of rows of Hugging Face, and returns true, if that pairs any of them. Otherwise, and if the names
// of one are not known, both stay as they are. The rest of the models is not touched.
bool pair_names(Model& a, Model& b);

// The files next to the weights in the directory that `convert` would make of the model, be it complete or not. Adds
// the changes that `convert` would report to `lines`. Throws the errors of `adapt`.
std::vector<Attachment> directory_files(Model model, std::vector<Change>& lines);

// `adapt`, with or without the check of require_configured.
enum class Completeness : std::uint8_t { open, required };
Adapted adapt_as(Model model, const Format& target, const AdaptOptions& options, Completeness completeness);

// Throws `convert.config` unless a model in its directory's form has every tensor that its config.json implies, in that shape.
// Models of families that are not known, adapters, and models without config.json are not looked at; if no tensor has a name
// of the family at all, that is a remark among the lines.
void require_configured(const Model& model, std::vector<Change>& lines);

}  // namespace tare
