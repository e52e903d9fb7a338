// The form of a model in a Hugging Face directory: names, row order, files. `adapt` makes it for a target that is a
// directory; code that passes a model to a library that reads such directories uses the same functions.
#pragma once

#include <vector>

#include "convert/adapt.hpp"

namespace tare {

namespace recipe {
struct Objective;
}

// Returns whether the format is always a directory.
bool is_directory(const Format& format);

// Returns whether programs read config.json and the other files of a directory from this container: it is one, or holds
// such files.
bool has_directory_form(const Format& format);

// Gives tensors Hugging Face's names and row order, and makes the files with everything else, whichever container's
// conventions the model follows. Throws `convert.names` for unknown names.
std::vector<Renamed> release_conventions(Model& model, std::vector<Change>& lines);

// How many names of `a` are also names of `b`.
std::size_t common_names(const Model& a, const Model& b);
// Whether so few names are common that the two may name their tensors by different conventions, as a GGUF file and the
// directory it was made from: fewer than half of the smaller model's.
bool names_differ(const Model& a, const Model& b);
// Gives the tensors Hugging Face's names and row order, except those whose names are also names of `other`, and returns
// what was renamed. Does nothing to a directory, and to a model with unknown names.
std::vector<Renamed> use_usual_names(Model& model, const Model& other);
// If names_differ(): use_usual_names() for both and returns true, if more names are common then. Otherwise neither
// changes. Nothing but the tensors changes.
bool pair_names(Model& a, Model& b);

// Returns the files next to the weights in the directory that `convert` would make of the model, complete or not. Adds
// the changes that `convert` would report to `lines`. Throws the errors of `adapt`.
std::vector<Attachment> directory_files(Model model, std::vector<Change>& lines);

// `adapt`, with or without the check of require_configured.
enum class Completeness : std::uint8_t { open, required };
// `objective`: of a budget of bits; null: squared errors.
Adapted adapt_as(Model model, const Format& target, const AdaptOptions& options, const Work& work,
                 Completeness completeness, const recipe::Objective* objective = nullptr);

// Throws `convert.config` unless a model in its directory's form has every tensor that its config.json implies, in that
// shape. Adds a warning to `lines` if the model has tensors beyond those, which programs ignore. `used_by`: a target
// whose programs do not read config.json, and would not ignore them; `convert.surplus` is thrown instead. Does not check
// models of unknown families, adapters, and models without config.json; if no tensor has a name of the family, adds a
// remark to `lines`.
void require_configured(const Model& model, std::vector<Change>& lines, const Format* used_by = nullptr);

}  // namespace tare
