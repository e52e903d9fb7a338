// The files of a model that describe its weights, wherever the model was opened from.
#pragma once

#include <optional>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

// Returns the model's own file of this name. For a model without attachments, opened from a weight file: the file in
// the same directory. Throws `io.open.outside` if that is a link out of the directory.
std::optional<Blob> file_of(const Model& model, std::string_view name);

}  // namespace tare::resources
