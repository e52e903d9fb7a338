// A directory written as a whole: its files come to be in a hidden directory (".tare-XXXXXX") beside it, or inside it
// where it is not empty, and get their names only when all are complete.
//
// A target that does not exist, or is empty, appears in one step: one rename. A target with files in it is changed
// file by file, in an order that the caller chooses (tree_swap.hpp); files that are not replaced and not in `old_files`
// stay. An error leaves everything as it was. A kill leaves the hidden directory behind, and of a target with files in
// it possibly a part: the caller writes the file without which the rest is nothing last.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/descriptor.hpp"
#include "io/tree_swap.hpp"
#include "tare/sink.hpp"

namespace tare::io {

struct TreeSinkOptions {
  // Replace files of a directory that is not empty. Off: such a directory is refused with `io.tree.exists`.
  bool overwrite = false;
  bool durable = true;
  // Files of the old content that the new one must not keep.
  std::function<OldFiles(const std::string& directory)> old_files = nullptr;
};

class TreeSink {
 public:
  TreeSink(const std::string& path, TreeSinkOptions options);
  ~TreeSink();
  TreeSink(const TreeSink&) = delete;
  TreeSink& operator=(const TreeSink&) = delete;

  // A new file, `name` relative to the directory: plain names and single slashes. Complete when it is committed; it
  // gets its name in `commit`, in the order of these calls.
  std::unique_ptr<Sink> file(const std::string& name);
  // Where the files are until they get their names.
  const std::string& staging() const { return staging_; }
  // Bytes of all files so far.
  std::uint64_t bytes() const;
  void commit();

 private:
  void make_hidden(const std::string& in);
  void set_usual_mode();
  bool move_whole();
  void move_inside();
  void move_files();

  std::string path_;     // as given, for errors
  std::string target_;   // links followed, no slash at the end
  std::string hidden_;   // empty: nothing to remove
  std::string staging_;  // in it, or itself
  Descriptor lock_;      // on the hidden directory: says that it is in use
  bool exists_ = false, empty_ = true;
  TreeSinkOptions options_;
  std::vector<std::string> names_;
};

// What a kill left in a directory that was being overwritten: the hidden directories' parts, relative to it, that were
// complete (".tare-XXXXXX/new", ".tare-XXXXXX/old"), sorted. Those in use by a running process are passed over.
std::vector<std::string> find_leftovers(const std::string& directory);

}  // namespace tare::io
