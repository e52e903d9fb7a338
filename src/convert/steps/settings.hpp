// The metadata keys that the caller of a conversion sets.
#pragma once

#include <span>
#include <vector>

#include "convert/steps/adaptation.hpp"
#include "tare/metadata.hpp"

namespace tare::steps {

std::vector<MetadataEdit> requested_edits(const AdaptOptions& options);
// Returns whether the target has no type for a value (an object, null). It has no key for it then, and keeps it as it
// keeps such metadata of any input.
bool lacks_type_for(const Adaptation& it, const MetadataEdit& edit);
// Edits the keys of the model, which are those of `form`, and reports files that are omitted because they repeat the
// old values.
void edit_form(Adaptation& it, const Format& form, std::span<const MetadataEdit> edits);

}  // namespace tare::steps
