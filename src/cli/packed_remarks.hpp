// Remarks about assumptions that were made to read packed weights of another program.
#pragma once

#include "cli/session.hpp"
#include "tare/model.hpp"

namespace tare::cli {

void remark_guesses(const Model& model, Session& session);
// Prints nothing for a tensor that is not made of packed weights.
void remark_guesses(const Model& model, const Tensor& tensor, Session& session);

}  // namespace tare::cli
