// Files in a directory that no other user can reach (staging_directory.hpp). They are written under their own names, because
// they become visible only with the directory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/directory.hpp"
#include "io/file_rights.hpp"
#include "tare/sink.hpp"

namespace tare::io {

struct PrivateFile {
  const Directory& folder;
  const char* name;
  std::string shown;                 // the name for errors
  std::optional<FileRights> rights;  // nothing: what the umask allows
  bool durable = true;
};
// The file is removed unless it is committed. Throws `io.sink.create`.
std::unique_ptr<Sink> create_private_file(const PrivateFile& file);

// As `create_file` with `overwrite`, for a new version of an open file. `commit` throws `io.source.changed` if another
// file has the name by then, and leaves that file alone. `replaced` must outlive the sink.
std::unique_ptr<Sink> create_replacement(const std::string& path, const Source& replaced);

}  // namespace tare::io
