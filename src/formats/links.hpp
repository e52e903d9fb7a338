// Which links a model's directory may follow.
#pragma once

#include <optional>
#include <string>

#include "io/directory.hpp"
#include "tare/source.hpp"

namespace tare {

// See links.cpp.
class Links {
 public:
  explicit Links(const std::string& directory);
  // What is wrong with a path below the directory that leads elsewhere. Nothing for one that stays, or leads nowhere.
  std::optional<std::string> outside(const std::string& path) const;
  // Whether an open file is one that may be read: what its path led to when `outside` looked may have been exchanged
  // before it was opened.
  bool allow(const Source& source) const;

 private:
  std::string inside_, blobs_;
  io::Directory inside_folder_, blobs_folder_;
};

}  // namespace tare
