// The bounds on what reading a model may cost, and on what it decodes to.
#pragma once

#include <string>

#include "base/budget.hpp"
#include "tare/format.hpp"

namespace tare {

// What reading with these limits may spend (base/budget.hpp).
Allowance allowance_of(const Limits& limits);

// Throws limit `open.expansion` when the tensors and attachments come to more than `limits` allows for the bytes of the
// model's file. Looks at sizes only.
void check_expansion(const Model& model, const Limits& limits, const std::string& file);

}  // namespace tare
