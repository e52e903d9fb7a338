// Files that are changed in place.
#pragma once

#include <string>

#include "io/descriptor.hpp"
#include "tare/model.hpp"

namespace tare {

// The file at `path`, open for reading and writing and locked against others who ask the same (flock). Nothing: it may
// not be written to, it is not the one that `model` was read from, or there are no locks. Throws `meta.locked` if somebody
// else is at it, and `io.source.changed` if it was written to since it was read.
io::Descriptor open_to_amend(const std::string& path, const Model& model);

}  // namespace tare
