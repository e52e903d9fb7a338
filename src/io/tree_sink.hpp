// A directory written as a whole: its files are written in a staging directory (staging_directory.hpp) next to it, or inside it if it is
// not empty, and get their names only when all are complete.
//
// A target that does not exist, or is empty, appears in one step: one rename. A target with files is changed file by
// file, in an order that the caller chooses (tree_swap.hpp), while it is locked: two processes that replace the same
// directory do so one after the other, and one that replaces what it has read fails if another one was faster
// (watched_tree.hpp). Files that are neither replaced nor in `old_files` stay. Any error leaves
// everything unchanged. A kill leaves the staging directory, and possibly a target with only some of its files: so the caller
// writes last the file without which the others are not a model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/directory.hpp"
#include "io/file_rights.hpp"
#include "io/own_process.hpp"
#include "io/place.hpp"
#include "io/staging_directory.hpp"
#include "io/tree_swap.hpp"
#include "tare/sink.hpp"

namespace tare::io {

struct TreeSinkOptions {
  // Replace files of a directory that is not empty. Off: refuse such a directory with `io.tree.exists`.
  bool overwrite = false;
  bool durable = true;
  // Files of the old content to remove.
  std::function<OldFiles(const Directory& directory)> old_files = nullptr;
};

class TreeSink {
 public:
  TreeSink(const std::string& path, TreeSinkOptions options);
  TreeSink(const TreeSink&) = delete;
  TreeSink& operator=(const TreeSink&) = delete;

  // Creates a file; `name` is relative to the directory: plain names that do not begin with a dot, and single slashes.
  // It is complete when it is committed; `commit` of this object gives files their names, in the order of these calls.
  // It gets the mode of the file it replaces; if there is none, only users that could read the old files can read it.
  std::unique_ptr<Sink> file(const std::string& name);
  // Announces that many bytes: throws `io.sink.full` if it is already known that they do not fit.
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
  std::vector<Descriptor> lock_watched(const OldFiles& old_files) const;
  void lock_target() const;
  void sync_folders() const;
  Error exists(std::string_view how) const;

  std::string path_, shown_;  // as given, and without the final slash: for errors
  OwnProcess process_;
  TreeSinkOptions options_;
  Place place_;
  Directory target_;                 // closed: it does not exist yet
  bool whole_ = true;                // one rename is enough
  std::optional<mode_t> old_modes_;  // what all old files allow
  std::optional<StagingDirectory> staging_;
  std::optional<StagingDirectory> inner_;  // inside the target, if it could not be renamed as a whole
  Directory part_;
  std::vector<std::string> names_;
};

// What a kill left in a directory that was being overwritten: the complete parts of staging directories, relative to it
// (".tare-XXXXXXXXXXXX/new", ".tare-XXXXXXXXXXXX/old"), sorted. Ignores staging directories of running processes.
std::vector<std::string> find_leftovers(const std::string& directory);
// Whether the directory holds neither the old content nor the new (staging_directory.hpp).
bool is_being_replaced(const std::string& directory);

}  // namespace tare::io
