// The files of a directory exchanged for others, with a way back.
//
// In the directory lies a hidden one of ours (".tare-XXXXXX"), the workshop. Its parts tell whoever finds it after a
// kill which of the two contents is whole:
//
//   part    the new files while they are being written
//   new     the new files, complete; until `old` is there, they are the ones to take
//   taken   the old files on their way out, one rename each
//   old     the old files, complete; from here on the new ones are on their way in
//
// An error undoes every rename, last one first. Only the owner of the workshop deletes it, at the very end.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tare/error.hpp"

namespace tare::io {

inline constexpr const char *kPart = "part", *kNew = "new", *kTaken = "taken", *kOld = "old";

// What the old content leaves, relative paths that lead through no links. `vital` goes first: without it the rest is
// nothing, in any order of its own.
struct OldFiles {
  std::vector<std::string> vital = {}, others = {};
  std::vector<std::string> in_the_way = {};  // directories that have a name they must not have
};

class TreeSwap {
 public:
  // `workshop` lies in `target` and holds the new files in `part`. `shown` is what errors call the target.
  TreeSwap(std::string target, std::string workshop, std::string shown, bool durable);

  // Takes the old files away and puts the new ones in, in this order; the last is the vital one. A file that a new one
  // replaces goes as an old one does. Throws `io.tree.blocked` when something that is no file is in the way, before
  // anything has moved, and `io.tree.rename`; either way all is as it was, unless `stuck`.
  void run(const OldFiles& old_files, const std::vector<std::string>& new_files);
  // An error could not be undone: the workshop holds files of the directory.
  bool stuck() const { return stuck_; }

 private:
  Error blocked(const std::string& name, const char* sentence) const;
  void check_the_way(const std::vector<std::string>& new_files) const;
  void take(const std::vector<std::string>& files);
  void put(const std::vector<std::string>& files);
  void move(const std::string& from, const std::string& to, const std::string& name);
  void make_folders(const std::string& root, const std::string& name);
  bool undo();
  void remove_empty_folders(const std::vector<std::string>& files) const;
  void sync(const std::string& directory) const;
  bool leaves(const std::string& name) const;
  bool is_in_place(const std::string& name) const;

  std::string target_, workshop_, shown_;
  bool durable_, stuck_ = false;
  std::vector<std::string> leaving_;                          // relative, in order
  std::vector<std::pair<std::string, std::string>> renames_;  // from, to
  std::vector<std::string> made_;                             // folders
};

}  // namespace tare::io
