// The options of quantize that choose the method for each tensor.
#pragma once

#include "cli/command.hpp"
#include "tare/quantize.hpp"

namespace tare::cli {

// Adds to the recipe that conversion_options returns. Throws UsageError for options that are invalid, or do not fit this
// model.
Quantization recipe_from(const Arguments& arguments, Quantization recipe, const Model& model);

}  // namespace tare::cli
