// Metadata of containers that define no types for it: Model::metadata, with the kinds of Value as types.
#pragma once

#include "formats/format.hpp"

namespace tare {

extern const MetadataRules kPlainMetadata;
inline constexpr std::string_view kTextKind = "text";

}  // namespace tare
