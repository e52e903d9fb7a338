// The files of a directory exchanged for others, with a way back.
//
// In the directory lies a workshop of ours (workshop.hpp). Its parts tell whoever finds it after a kill which of the two
// contents is whole:
//
//   part    the new files while they are being written
//   new     the new files, complete; until `old` is there, they are the ones to take
//   taken   the old files on their way out, one rename each
//   old     the old files, complete; from here on the new ones are on their way in
//   gone    the old files, when all new ones are in place: to be deleted
//
// Any failure undoes every rename, last one first, and needs no memory for it. All that could fail for lack of memory
// happens before the first rename. Nothing is replaced and no link is followed: what appears in the way meanwhile is a
// failure.
#pragma once

#include <string>
#include <vector>

#include "io/directory.hpp"
#include "io/workshop.hpp"
#include "tare/error.hpp"

namespace tare::io {

// What the old content leaves, relative paths that lead through no links. `vital` goes first: without it the rest is
// nothing, in any order of its own.
struct OldFiles {
  std::vector<std::string> vital = {}, others = {};
  std::vector<std::string> in_the_way = {};  // directories that have a name they must not have
};

class TreeSwap {
 public:
  // `workshop` lies in `target` and holds the new files in `part`; both outlive this. `shown` is what errors call the
  // target.
  TreeSwap(const Directory& target, const Workshop& workshop, std::string shown, bool durable);

  // Takes the old files away and puts the new ones in, in this order; the last is the vital one. A file that a new one
  // replaces goes as an old one does. Throws `io.tree.blocked` when something that is no file is in the way, before
  // anything has moved, and `io.tree.rename`; either way, and for every other exception, all is as it was, or, where
  // that could not be undone, the error says that the workshop holds files of the directory.
  void run(const OldFiles& old_files, const std::vector<std::string>& new_files);

 private:
  // What is there; nothing for a name below something that leaves, or that is not there.
  enum class Kind { nothing, file, folder, link };
  Kind kind_of(const std::string& name) const;
  bool leaves(const std::string& name) const;

  Error blocked(std::string_view name, const char* sentence) const;
  void check_the_way(const std::vector<std::string>& new_files) const;
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
  const Workshop& workshop_;
  std::string shown_;
  bool durable_;

  std::vector<std::string> leaving_;  // what `plan` was given as old, sorted
  std::vector<std::string> takes_, puts_;
  std::size_t vital_ = 0;  // so many of `takes_` come before the others
  // How far it got, for the way back.
  enum class Stage { nothing, named_new, taking, putting } stage_ = Stage::nothing;
  std::size_t taken_ = 0, put_ = 0;
  std::vector<std::string_view> made_;  // folders in the target, pieces of names in `puts_`
};

}  // namespace tare::io
