// The vision tower of a multimodal model, which the programs of some containers keep in a file of its own.
#pragma once

#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace tare {

// The part of a Change about a tower that is not in the output.
inline constexpr std::string_view kTowerPart = "vision tower";

// The conventions of a container for such files. Both functions fill `changes`, and throw `convert.tower` for a model that
// has no tower, or one that these programs do not know.
struct TowerConventions {
  std::string_view format;
  // Makes the tower of a whole model in Hugging Face's conventions.
  Model (*adopt)(const Model& model, std::vector<Change>& changes);
  // The inverse: `model`, which follows the container's conventions, and its tower become one in Hugging Face's.
  void (*join)(Model& model, Model tower, std::vector<Change>& changes);
};

// Null if the container has none.
const TowerConventions* tower_conventions(const Format& format);
// Those that a model of any container follows; null if there are none.
const TowerConventions* tower_conventions_of(const Model& model);

}  // namespace tare
