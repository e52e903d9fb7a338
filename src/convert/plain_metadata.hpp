// Metadata of containers that have no types of their own for it: Model::metadata, and the kinds of Value.
#pragma once

#include "tare/format.hpp"

namespace tare {

extern const MetadataRules kPlainMetadata;
inline constexpr std::string_view kTextKind = "text";

}  // namespace tare
