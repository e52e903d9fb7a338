// A directory written as a whole: its files come to be in a workshop (workshop.hpp) beside it, or inside it where it is
// not empty, and get their names only when all are complete.
//
// A target that does not exist, or is empty, appears in one step: one rename. A target with files in it is changed
// file by file, in an order that the caller chooses (tree_swap.hpp), while it is locked: two that replace the same
// directory do so one after the other. Files that are not replaced and not in `old_files` stay. An error, of whatever
// kind, leaves everything as it was. A kill leaves the workshop behind, and of a target with files in it possibly a part:
// the caller writes the file without which the rest is nothing last.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/directory.hpp"
#include "io/file_rights.hpp"
#include "io/place.hpp"
#include "io/tree_swap.hpp"
#include "io/workshop.hpp"
#include "tare/sink.hpp"

namespace tare::io {

struct TreeSinkOptions {
  // Replace files of a directory that is not empty. Off: such a directory is refused with `io.tree.exists`.
  bool overwrite = false;
  bool durable = true;
  // Files of the old content that the new one must not keep.
  std::function<OldFiles(const Directory& directory)> old_files = nullptr;
};

class TreeSink {
 public:
  TreeSink(const std::string& path, TreeSinkOptions options);
  TreeSink(const TreeSink&) = delete;
  TreeSink& operator=(const TreeSink&) = delete;

  // A new file, `name` relative to the directory: plain names that do not begin with a dot, and single slashes. Complete
  // when it is committed; it gets its name in `commit`, in the order of these calls. It has the mode of the file it
  // replaces; where there is none, it is open to nobody to whom the old files were closed.
  std::unique_ptr<Sink> file(const std::string& name);
  // That so many bytes are going to be written: throws `io.sink.full` when it is known now that they do not fit.
  void expect(std::uint64_t bytes) const;
  // Bytes of all files so far.
  std::uint64_t bytes() const;
  void commit();

 private:
  void find_target();
  bool can_be_replaced() const;
  void look_at_old_files();
  std::optional<FileRights> rights_for(const std::string& name) const;
  bool move_whole();
  void take_over_mode() const;
  void move_inside();
  void move_files();
  void lock_target() const;
  void sync_folders() const;
  Error exists(std::string_view how) const;

  std::string path_, shown_;  // as given, and without the slash at the end: for errors
  TreeSinkOptions options_;
  Place place_;
  Directory target_;                 // closed: it does not exist yet
  bool whole_ = true;                // one rename will do
  std::optional<mode_t> old_modes_;  // what all old files allow
  std::optional<Workshop> workshop_;
  std::optional<Workshop> inner_;  // in the target, where it was to be renamed whole and could not be
  Directory part_;
  std::vector<std::string> names_;
};

// What a kill left in a directory that was being overwritten: the workshops' parts, relative to it, that were complete
// (".tare-XXXXXXXXXXXX/new", ".tare-XXXXXXXXXXXX/old"), sorted. Those in use by a running process are passed over.
std::vector<std::string> find_leftovers(const std::string& directory);
// Whether what lies in the directory is neither the old content nor the new (workshop.hpp).
bool is_being_replaced(const std::string& directory);

}  // namespace tare::io
