// Files that are changed in place.
#pragma once

#include <string>

#include "io/descriptor.hpp"
#include "tare/model.hpp"

namespace tare {

// The file at `path`, open for reading and writing and locked against others who ask the same (flock). Nothing: it may
// not be written to, it has other names (hard links), a link into a content-addressed store leads to it, it is not the one that
// `model` was read from, or there are no locks. Throws `meta.locked` if somebody else is at it, `io.source.changed` if it was
// written to since it was read, and `io.sink.store` for a file of a store.
io::Descriptor open_to_amend(const std::string& path, const Model& model);

// For writing it anew: the lock that others who edit it ask for, held as long as the descriptor is. Throws `meta.locked`, and
// `io.source.changed` when the file is not the one that `model` was read from. Nothing: the file system has no locks.
io::Descriptor lock_to_rewrite(const std::string& path, const Model& model);

}  // namespace tare
