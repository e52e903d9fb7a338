// An open directory. Everything that is created, renamed or removed in the file system goes through here, relative to
// a descriptor and never through a link, so that nobody who may write beside us can lead us elsewhere (the test
// `tree.file-calls` refuses such calls anywhere else).
//
// Functions that can fail say so with false or an empty object and leave the reason in errno, as the system calls do;
// they allocate nothing, so that they work while memory is short and errors are being undone. `name` is one plain name.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"

namespace tare::io {

enum class Locked : std::uint8_t { yes, by_another, unsupported };

class Directory {
 public:
  Directory() = default;
  explicit Directory(Descriptor opened) : descriptor_(std::move(opened)) {}
  // A path that the user named: links in it are followed. One that may be entered but not listed can be opened too.
  static Directory open(const char* path) noexcept;
  Directory again() const noexcept;

  int descriptor() const { return descriptor_.get(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }

  // A directory in this one; not through a link.
  Directory enter(const char* name) const noexcept;
  // "a/b" below this one; "" is this one. `make`: folders that are missing are created.
  Directory walk(std::string_view folders, bool make = false) const noexcept;

  bool status(struct stat& out) const noexcept;
  // What the name is, a link itself and not what it leads to.
  bool look(const char* name, struct stat& out) const noexcept;
  bool has(const char* name) const noexcept;
  // Whether the name is that of this very directory or file.
  bool is_still(const char* name, int descriptor) const noexcept;
  bool writable() const noexcept;
  // Everything inside but "." and "..", sorted. Throws std::system_error.
  std::vector<std::string> names() const;
  bool is_empty() const noexcept;
  // Whether there is anything but folders, at any depth.
  bool has_files() const noexcept;

  // For reading; not through a link unless that is said. Does not wait for the writer of a FIFO.
  Descriptor read(const char* name, bool follow = false) const noexcept;
  // For reading and writing; a name that is taken is refused.
  Descriptor create(const char* name, mode_t mode) const noexcept;
  // A file without a name (O_TMPFILE), in whose place nothing stays if it never gets one. Refused with EOPNOTSUPP where
  // it could not be given one: file systems that have no such thing, systems without /proc.
  Descriptor create_unnamed(mode_t mode) const noexcept;
  // Gives such a file its name; EEXIST when it is taken.
  bool name(int unnamed, const char* name) const noexcept;

  bool make(const char* name, mode_t mode) const noexcept;
  // Replaces a file, a link or an empty directory of that name.
  bool rename(const char* name, const Directory& to, const char* to_name) const noexcept;
  // Replaces nothing: EEXIST.
  bool rename_new(const char* name, const Directory& to, const char* to_name) const noexcept;
  bool remove_file(const char* name) const noexcept;
  bool remove_folder(const char* name) const noexcept;  // an empty one
  // Empties it, but for one name. Links are removed, not followed. Gives up with EBUSY after 262,144 names: somebody adds
  // them faster than they go.
  bool remove_inside(const char* except = "") const noexcept;
  // Removes the folders in it that have nothing but folders in them.
  void remove_empty_folders() const noexcept;

  // Waits until the names are on the disk. True where the file system or our rights do not allow that.
  bool sync() const noexcept;
  // Takes the lock that goes with this descriptor (flock), if it is free; it is let go with the descriptor, however the
  // process ends.
  Locked lock() const noexcept;

 private:
  template <typename Visit>
  bool for_each(const Visit& visit, bool in_place = false) const noexcept;
  // `left`: names that may still be removed.
  bool remove_inside(const char* except, std::size_t& left) const noexcept;

  Descriptor descriptor_;
};

// "a/b" of "a/b/c"; "" of "c".
std::string_view folders_of(std::string_view path);
// "c" of "a/b/c". The text ends where the path does.
const char* base_of(const std::string& path);

// Makes the directory of a path that the user named, and those above it that are missing. False: errno says why.
bool make_path(const std::string& path);

// For tests: create_unnamed fails as on a file system that has no unnamed files.
void forbid_unnamed_files(bool forbidden);

}  // namespace tare::io
