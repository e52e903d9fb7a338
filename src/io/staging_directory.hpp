// A hidden directory for files that have no final name yet: ".tare-" and twelve random characters.
//
// It is private (0700): no other user can put anything into it. A marker file, whose content is the directory's own
// name, shows that it is ours and may be removed; a lock (flock) shows that a process uses it. A directory with the
// marker and without a lock was left by a kill. A directory without the marker is not ours, whatever its name.
//
// While a directory is being replaced (tree_swap.hpp), the staging directory can be the only place with files of the user: one
// that contains `taken` or `old` is never removed, except after a replacement that succeeded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"
#include "io/directory.hpp"
#include "io/own_process.hpp"
#include "io/unfinished.hpp"

namespace tare::io {

inline constexpr const char *kPart = "part", *kNew = "new", *kTaken = "taken", *kOld = "old", *kGone = "gone";

class StagingDirectory final : private Unfinished {
 public:
  // Throws `rule`, with the file `shown`.
  StagingDirectory(const Directory& parent, std::string_view rule, const std::string& shown);
  // Removes it and its content, unless it holds files of the user or belongs to the parent of this process.
  ~StagingDirectory() override;

  const Directory& directory() const { return directory_; }
  const std::string& name() const { return name_; }

 private:
  bool try_name(int& code);
  void remove() noexcept;
  void discard() noexcept override { remove(); }

  OwnProcess process_;
  Directory parent_, directory_;
  // Reserve descriptors, so that the staging directory can be removed even if none are left: one to enter a folder in it, one
  // for a folder in that.
  Descriptor spare_, other_spare_;
  std::string name_;
};

// The names of the staging directories that a kill left in a directory, sorted.
std::vector<std::string> abandoned_staging_directories(const Directory& directory);
// Removes those that belong to this user; those that hold files of the user only if `all`. Never throws, because
// cleaning up is not what the caller asked for.
void sweep_staging_directories(const Directory& directory, bool all) noexcept;
// Whether the files of the directory are being replaced, or were when a kill came, so that it holds neither the old
// content nor the new.
bool is_being_replaced(const Directory& directory);

}  // namespace tare::io
