// Whom a file is open to, kept when another takes its place: what was closed to others stays closed.
#pragma once

#include <sys/stat.h>

#include <optional>

#include "io/directory.hpp"

namespace tare::io {

struct FileRights {
  mode_t mode = 0;  // without setuid and its like: the new content has not earned them
  // To be given to the new file, which else would be open to another group; nothing: what it gets by itself.
  std::optional<gid_t> group = std::nullopt;
  // Nothing above what the umask leaves: the file was somebody else's, who may have put it there for us to open ours.
  bool at_most = false;
};

// Of the file of that name, which `status` is about. Throws `io.sink.create` when it cannot be looked at.
FileRights rights_of(const Directory& folder, const char* name, const struct stat& status);

// The mode to create a file with, so that it is never more open than in the end.
mode_t first_mode(const std::optional<FileRights>& rights) noexcept;
// Gives them to a file that is complete. False: errno says why.
bool give_rights(int file, const std::optional<FileRights>& rights) noexcept;

}  // namespace tare::io
