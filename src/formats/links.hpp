// Decides which links inside a model's directory may be followed.
#pragma once

#include <optional>
#include <string>

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
  std::string inside_, blobs_;
  io::Directory inside_folder_, blobs_folder_;
};

}  // namespace tare
