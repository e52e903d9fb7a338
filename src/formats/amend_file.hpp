// Opening files that are edited in place.
#pragma once

#include <string>

#include "io/descriptor.hpp"
#include "tare/model.hpp"

namespace tare {

// Opens the file at `path` for reading and writing, and locks it (flock) against other editors. Returns an empty
// descriptor if the file must be replaced instead: it is not writable, it has other names (hard links), it is a link
// into a content-addressed store, it is not the file that `model` was read from, or the file system has no locks.
// Throws `meta.locked` if another process holds the lock, `io.source.changed` if the file was written to since it was
// read, and `io.sink.store` for a file of a store.
io::Descriptor open_to_amend(const std::string& path, const Model& model);

// Throws `meta.readonly` for a file that may not be written to: it must not be replaced either. A link to a read-only
// file may be, by a file of its own.
void require_writable_file(const std::string& path);

// Takes the lock of `open_to_amend` for a file that is about to be replaced. The lock is held as long as the descriptor
// is open. Throws `meta.locked`, and `io.source.changed` if the file is not the one that `model` was read from. Returns
// an empty descriptor if the file system has no locks.
io::Descriptor lock_to_rewrite(const std::string& path, const Model& model);

}  // namespace tare
