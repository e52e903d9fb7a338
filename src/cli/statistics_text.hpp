// Statistics for people, with a picture, and for programs.
#pragma once

#include "cli/json.hpp"
#include "cli/session.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {

void print_statistics(const Statistics& stats, Session& session);
// An object of its numbers.
void write_statistics(JsonWriter& json, const Statistics& stats);

}  // namespace tare::cli
