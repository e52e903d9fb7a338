// What must change about everything but the tensors: metadata, config, vocabulary, attachments.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/convert.hpp"

namespace tare {

// By name, or by asking for the weights only: those keep their metadata and attributes.
inline bool asked_to_drop(const AdaptOptions& options, ModelPart what) {
  if (options.weights_only && what != ModelPart::metadata && what != ModelPart::attributes) return true;
  return std::find(options.drop.begin(), options.drop.end(), what) != options.drop.end();
}

// Leaves out what is to be dropped, gives a target with fixed fields the documents' defaults, and refuses what has no
// place. Appends each thing that changed, and the keys of files that are lost.
void fit_rest(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines,
              std::vector<LostKeys>& lost);

}  // namespace tare
