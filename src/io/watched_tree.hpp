// A directory that is read and then replaced by a changed version of itself. What another program changed in between is
// not in the new version, and must not be lost.
//
// The caller records the directory before it reads the first file. TreeSink compares each file that it is about to move
// away with the record, while it holds the lock of the directory: of two programs that change a directory at the same
// time, the second one fails and nothing is lost.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "io/descriptor.hpp"
#include "io/directory.hpp"

namespace tare::io {

// Records the files of a directory until the end of the scope, for this thread. Scopes nest.
class WatchedTree {
 public:
  // A directory that does not exist, or cannot be listed, has no files.
  explicit WatchedTree(std::string path);
  ~WatchedTree();
  WatchedTree(const WatchedTree&) = delete;
  WatchedTree& operator=(const WatchedTree&) = delete;

  // The record of the directory with this path, as it was spelled; null if there is none.
  static const WatchedTree* of(const std::string& path);

  // Throws `io.source.changed` if one of these files, relative to `directory`, is not the recorded one or has been
  // written to, and `meta.locked` if another program is changing one in place. `shown`: the directory's name for errors.
  // While the returned descriptors are open, no other program can lock the files.
  std::vector<Descriptor> require_unchanged(const Directory& directory, const std::vector<std::string>& names,
                                            const std::string& shown) const;

 private:
  struct Mark {
    dev_t device = 0;
    ino_t number = 0;
    off_t size = 0;
    timespec written = {};

    Mark() = default;
    explicit Mark(const struct stat& status);
    bool operator==(const Mark& other) const;
  };
  // A link, and the file that it leads to; twice the same for a file.
  struct Entry {
    Mark name, file;
    bool operator==(const Entry& other) const = default;
  };

  // Returns false if the name does not exist, or is a folder.
  static bool look(const Directory& folder, const char* name, Entry& out);
  void record(const Directory& folder, const std::string& above, int depth);

  std::string path_;
  std::map<std::string, Entry> entries_;
  bool complete_ = true;
  WatchedTree* outer_;
};

}  // namespace tare::io
