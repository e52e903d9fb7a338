// A hidden directory in which something comes to be that has no name yet: ".tare-" and twelve random characters.
//
// It is private (0700): nobody else can put anything into it, whoever may write beside it. A marker file in it, with the
// directory's own name as content, says that it is ours and may be removed; a lock (flock) says that a process works in
// it. What has the marker and no lock was left by a kill. What has no marker is somebody else's, whatever its name.
//
// The parts of a directory that is being replaced (tree_swap.hpp) make it the only place where files of the user are:
// one with `taken` or `old` in it is never removed, except by a replacement that succeeded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"
#include "io/directory.hpp"
#include "io/unfinished.hpp"

namespace tare::io {

inline constexpr const char *kPart = "part", *kNew = "new", *kTaken = "taken", *kOld = "old", *kGone = "gone";

class Workshop final : private Unfinished {
 public:
  // Throws `rule`, about the file `shown`.
  Workshop(const Directory& parent, std::string_view rule, const std::string& shown);
  // Removes it and what is in it, unless it holds files of the user.
  ~Workshop() override;

  const Directory& directory() const { return directory_; }
  const std::string& name() const { return name_; }

 private:
  bool try_name(int& code);
  void remove() noexcept;
  void discard() noexcept override { remove(); }

  Directory parent_, directory_;
  // Held so that there are some to remove it with: to enter a folder in it, and one in that.
  Descriptor spare_, other_spare_;
  std::string name_;
};

// The names of those that a kill left in a directory, sorted.
std::vector<std::string> abandoned_workshops(const Directory& directory);
// Removes them, if they are this user's; those that hold files of the user only if `all`. Never throws: to tidy up is
// not what was asked for.
void sweep_workshops(const Directory& directory, bool all) noexcept;
// Whether the files of the directory are being replaced, or were when a kill came, so that what lies there is neither
// the old content nor the new.
bool is_being_replaced(const Directory& directory);

}  // namespace tare::io
