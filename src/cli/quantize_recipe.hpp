// The options of quantize that say which tensor is encoded how.
#pragma once

#include "cli/command.hpp"
#include "tare/quantize.hpp"

namespace tare::cli {

// Throws UsageError for what makes no sense, or not for this model.
Quantization recipe_from(const Arguments& arguments, const Model& model);

}  // namespace tare::cli
