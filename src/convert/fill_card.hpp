// License and base model for a target with fields for just these, from the files that stay behind.
#pragma once

#include <string>
#include <vector>

#include "tare/convert.hpp"

namespace tare {

void fill_card(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines);

}  // namespace tare
