// What was assumed of weights that another program packed, for people who look at them.
#pragma once

#include "cli/session.hpp"
#include "tare/model.hpp"

namespace tare::cli {

void remark_guesses(const Model& model, Session& session);
// Nothing for a tensor that is not of packed weights.
void remark_guesses(const Model& model, const Tensor& tensor, Session& session);

}  // namespace tare::cli
