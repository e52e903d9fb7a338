// The sentence about a pattern that matches no tensor.
#pragma once

#include <string>
#include <string_view>

#include "tare/model.hpp"

namespace tare {

// Returns "no tensor matches q_proj: names here are like X, and a pattern must match the whole name, as '*q_proj*' does".
// The advice is omitted for a model without tensors.
std::string no_match(std::string_view glob, const Model& model, std::string_view what = "no tensor");

}  // namespace tare
