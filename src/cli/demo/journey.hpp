#pragma once

#include <string>

#include "cli/command.hpp"

namespace tare::cli {

// Writes a downloaded-looking model under `directory` and takes it from container to container, each made from the one
// before. False when something was lost without a word.
bool demo_journey(const std::string& directory, const Arguments& arguments, Session& session);

}  // namespace tare::cli
