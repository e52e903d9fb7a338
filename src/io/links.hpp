// Decides which links inside a model's directory may be followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "io/directory.hpp"
#include "tare/source.hpp"

namespace tare {

// links.cpp has the rules and the reasons.
class Links {
 public:
  explicit Links(const std::string& directory);
  // Returns what is wrong with a path below the directory that leads out of it. Returns nothing if the path stays
  // inside or leads nowhere.
  std::optional<std::string> outside(const std::string& path) const;
  // Returns whether an open file may be read. The path can have been replaced between the call of `outside` and the
  // opening of the file, so the open file is checked again.
  bool allow(const Source& source) const;

 private:
  // The path without links; for one below the directory, the directory is not resolved again.
  std::string target_of(const std::string& path, std::error_code& failed) const;

  std::string spelled_;  // as the caller spelled it, with a slash at the end
  std::string inside_, blobs_;
  io::Directory inside_folder_, blobs_folder_;
};

namespace io {

// Opens the file of this name in the directory of an open file, such as a config next to weights. Returns null if there is
// no such regular file, or if the open file has no path. Throws `io.open.outside` if a link leads out of the directory.
SourcePtr open_beside(const Source& source, std::string_view name, Access access);

}  // namespace io

}  // namespace tare
