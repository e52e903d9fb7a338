// The access rights of a file, kept when a new file replaces it: what was closed to others stays closed.
#pragma once

#include <sys/stat.h>

#include <optional>

#include "io/directory.hpp"

namespace tare::io {

struct FileRights {
  mode_t mode = 0;  // without setuid and the like, which were not meant for the new content
  // The group for the new file; nothing: the default. Without it, `mode` would open the file to another group.
  std::optional<gid_t> group = std::nullopt;
  // Grants at most what the umask allows: another user owned the file and may have put it there to make us open ours.
  bool at_most = false;
};

// The rights of the file with this name and `status`. Throws `io.sink.create` if they cannot be read.
FileRights rights_of(const Directory& folder, const char* name, const struct stat& status);

// The mode to create a file with, so that it is never more open than at the end.
mode_t first_mode(const std::optional<FileRights>& rights) noexcept;
// Applies the rights to a complete file. Returns false with errno set.
bool give_rights(int file, const std::optional<FileRights>& rights) noexcept;

}  // namespace tare::io
