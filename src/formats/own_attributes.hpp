// Three attributes in which both versions of zTensor keep what they have no field for: the config, the vocabulary and
// the attachments. `family` begins the rules of errors ("zt2": `zt2.write.name`).
#pragma once

#include <string>
#include <string_view>

#include "tare/model.hpp"

namespace tare {

// Throws FAMILY.write.reserved if the metadata has one of these keys and the model the part, because one of the two would
// be lost, or if a reader would take the key's value for the part,
// FAMILY.write.name for an attachment whose name is not UTF-8, and FAMILY.write.duplicate for two with the same name.
void check_own_attributes(const Model& model, std::string_view family);
// Returns the model's metadata and these attributes. The model must have passed `check_own_attributes`.
Map with_own_attributes(const Model& model);
// Moves the attributes from the metadata into the model. One in another form stays metadata, with the warning
// FAMILY.private.malformed for the file at `path` and the offset `at`.
void take_own_attributes(Model& model, std::string_view family, Diagnostics& diagnostics, const std::string& path,
                         std::uint64_t at);

}  // namespace tare
