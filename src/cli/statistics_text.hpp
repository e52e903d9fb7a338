// Statistics for people, with a histogram, and as JSON.
#pragma once

#include "cli/json.hpp"
#include "cli/session.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {

void print_statistics(const Statistics& stats, Session& session);
// Writes an object of the numbers.
void write_statistics(JsonWriter& json, const Statistics& stats);

}  // namespace tare::cli
