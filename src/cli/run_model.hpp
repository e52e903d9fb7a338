// `run` for a model of a family that Tare computes, in any container, with the file's own tokenizer.
#pragma once

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "tare/model.hpp"

namespace tare::cli {

int run_model(const Model& file, const Arguments& arguments, Session& session);

}  // namespace tare::cli
