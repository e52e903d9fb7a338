// `run` for a Tiny Llama: its own executor, sampler and tokenizer.
#pragma once

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "tare/model.hpp"

namespace tare::cli {

int run_tiny_llama(const Model& file, const Arguments& arguments, Session& session);

}  // namespace tare::cli
