// The files of a model that say something about its weights, wherever the model was opened from.
#pragma once

#include <optional>
#include <string_view>

#include "tare/model.hpp"

namespace tare::resources {

// The model's own file of this name; of weights that were named by their own path, the file beside them.
std::optional<Blob> file_of(const Model& model, std::string_view name);

}  // namespace tare::resources
