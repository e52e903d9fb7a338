// A directory written as a whole: its files come to be in a hidden directory beside it (or inside it, where it is not
// empty) and get their names only when all are complete.
//
// A target that does not exist, or is empty, appears in one step: one rename. A target with files in it is changed
// file by file, in an order that the caller chooses; files that are not replaced and not `stale` stay. A kill leaves
// the hidden directory behind (".tare-..."), and of a target with files in it possibly a part: the caller puts the file
// without which the rest is nothing last.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tare/sink.hpp"

namespace tare::io {

struct TreeSinkOptions {
  // Replace files of a directory that is not empty. Off: such a directory is refused with `io.tree.exists`.
  bool overwrite = false;
  bool durable = true;
  // Files of the old content, in the directory itself, that the new one must not keep. They are removed before the
  // new files get their names: those in `vital` first, without which the others are nothing.
  std::function<bool(std::string_view name)> stale = nullptr;
  std::vector<std::string> vital = {};
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
  void make_staging(const std::string& in);
  bool move_whole();
  void move_files();

  std::string path_;     // as given, for errors
  std::string target_;   // links followed, no slash at the end
  std::string staging_;  // empty: nothing to remove
  bool exists_ = false, empty_ = true;
  TreeSinkOptions options_;
  std::vector<std::string> names_;
};

}  // namespace tare::io
