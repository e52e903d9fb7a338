// Fits everything but the tensors to a target: metadata, config, vocabulary, attachments.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/format.hpp"
#include "tare/convert.hpp"

namespace tare {

// Dropped by name, or by asking for the weights only: those keep their metadata and attributes.
inline bool asked_to_drop(const AdaptOptions& options, ModelPart what) {
  if (options.weights_only && what != ModelPart::metadata && what != ModelPart::attributes) return true;
  return std::find(options.drop.begin(), options.drop.end(), what) != options.drop.end();
}

// Removes what is to be dropped, gives a target with fixed fields the documented defaults, and refuses what the target
// cannot hold. Appends each change to `lines`, and the keys of files that are lost to `lost`.
void fit_rest(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines,
              std::vector<LostKeys>& lost);

}  // namespace tare
