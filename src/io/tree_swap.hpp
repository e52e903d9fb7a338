// Exchanges the files of a directory for others, reversibly.
//
// The directory contains a staging directory (staging_directory.hpp). After a kill, its parts show which of the two contents is complete:
//
//  part    the new files while they are being written
//  new     the new files, complete; valid until `old` exists
//  taken   the old files while they are moved out, one rename each
//  old     the old files, complete; from here on the new files are moved in
//  gone    the old files when all new ones are in place: to be deleted
//
// Any failure undoes all renames, last one first, without allocating. Everything that could fail for lack of memory
// happens before the first rename. Nothing is replaced and no link is followed: a file that appears in the way is a
// failure.
#pragma once

#include <string>
#include <vector>

#include "io/directory.hpp"
#include "io/staging_directory.hpp"
#include "tare/error.hpp"

namespace tare::io {

// Old files to remove: relative paths that lead through no links. `vital` files, in any order, go first: without them
// the rest is not a model.
struct OldFiles {
  std::vector<std::string> vital = {}, others = {};
  std::vector<std::string> in_the_way = {};  // directories whose names are needed for files
};

class TreeSwap {
 public:
  // `staging` is inside `target` and holds the new files in `part`; both must outlive this. `shown` is the target's
  // name for errors.
  TreeSwap(const Directory& target, const StagingDirectory& staging, std::string shown, bool durable);

  // Moves the old files out and the new ones in, in this order; the last new file is the vital one. A file that a new
  // one replaces is moved out like an old one. Throws `io.tree.blocked` if something other than a file is in the way,
  // before anything has moved, and `io.tree.rename`. After any exception everything is as before; if that could not be
  // restored, the error states that the staging directory holds files of the directory.
  void run(const OldFiles& old_files, const std::vector<std::string>& new_files);

 private:
  // What the name is; `nothing` for a name that does not exist or is below something that leaves.
  enum class Kind { nothing, file, folder, link };
  Kind kind_of(const std::string& name) const;
  bool leaves(const std::string& name) const;

  Error blocked(std::string_view name, const char* sentence) const;
  void check_targets(const std::vector<std::string>& new_files) const;
  void plan(const OldFiles& old_files, const std::vector<std::string>& new_files);

  void forward();
  void shift(const char* from, const char* to);
  void take(const std::string& name);
  void put(const std::string& name);
  void make_folders_for(const std::string& name);
  bool undo() noexcept;
  void finish() noexcept;
  void flush(const Directory& directory) const;
  void flush_folders() const;
  [[noreturn]] void failed(const std::string& name, std::string_view doing) const;

  const Directory& target_;
  const StagingDirectory& staging_;
  std::string shown_;
  bool durable_;

  std::vector<std::string> leaving_;  // the old files that `plan` got, sorted
  std::vector<std::string> takes_, puts_;
  std::size_t vital_ = 0;  // how many of `takes_` are vital; they come first
  // How far it got, for `undo`.
  enum class Stage { nothing, named_new, taking, putting } stage_ = Stage::nothing;
  std::size_t taken_ = 0, put_ = 0;
  std::vector<std::string_view> made_;  // created folders in the target; they refer to names in `puts_`
};

}  // namespace tare::io
