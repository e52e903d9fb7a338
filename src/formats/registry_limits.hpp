// The bound on what a whole model decodes to.
#pragma once

#include <string>

#include "tare/format.hpp"

namespace tare {

// Throws limit `open.expansion` when the tensors and attachments come to more than `limits` allows for the bytes of the
// model's file. Looks at sizes only.
void check_expansion(const Model& model, const Limits& limits, const std::string& file);

}  // namespace tare
