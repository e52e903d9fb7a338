// Sets license and base model, from files that are not carried, in a target that has fields for these two.
#pragma once

#include <string>
#include <vector>

#include "formats/format.hpp"
#include "tare/convert.hpp"

namespace tare {

void fill_card(Model& model, const Format& target, const AdaptOptions& options, std::vector<Change>& lines);

}  // namespace tare
