// The options of quantize that choose the method for each tensor.
#pragma once

#include "cli/command.hpp"
#include "tare/quantize.hpp"

namespace tare::cli {

// The values of --method: those of --quant, the float types, and "keep".
Words method_words();
// Throws UsageError for options that are invalid, or do not fit this model.
Quantization recipe_from(const Arguments& arguments, const Model& model);

}  // namespace tare::cli
