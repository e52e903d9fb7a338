// An open directory. Every call that creates, renames or removes something in the file system is here. They work
// relative to a descriptor and never follow a link, so that other users with write access cannot redirect them (the
// test `tree.file-calls` refuses such calls anywhere else).
//
// Functions that fail return false or an empty object and leave the reason in errno, like system calls. They allocate
// nothing, so that they work while memory is short and errors are being undone. `name` is a plain name without slashes.
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
  // Opens a path that the user named; follows links. A directory that may be entered but not listed can be opened too.
  static Directory open(const char* path) noexcept;
  Directory again() const noexcept;

  int descriptor() const { return descriptor_.get(); }
  explicit operator bool() const { return static_cast<bool>(descriptor_); }

  // Opens a directory inside this one; does not follow a link.
  Directory enter(const char* name) const noexcept;
  // Opens "a/b" below this one; "" is this one. `make`: creates missing folders.
  Directory walk(std::string_view folders, bool make = false) const noexcept;

  bool status(struct stat& out) const noexcept;
  // The status of the name; for a link, of the link itself.
  bool look(const char* name, struct stat& out) const noexcept;
  bool has(const char* name) const noexcept;
  // Whether the name is still that of this open directory or file.
  bool is_still(const char* name, int descriptor) const noexcept;
  bool writable() const noexcept;
  // All names except "." and "..", sorted. Throws std::system_error.
  std::vector<std::string> names() const;
  bool is_empty() const noexcept;
  // Whether it contains anything but folders, at any depth.
  bool has_files() const noexcept;

  // Opens for reading; follows a link only if asked to. Does not wait for the writer of a FIFO.
  Descriptor read(const char* name, bool follow = false) const noexcept;
  // Creates a file for reading and writing; fails if the name exists.
  Descriptor create(const char* name, mode_t mode) const noexcept;
  // Creates a file without a name (O_TMPFILE), which disappears unless it gets one. Fails with EOPNOTSUPP if it could
  // not be named later: on file systems without such files, or without /proc.
  Descriptor create_unnamed(mode_t mode) const noexcept;
  // Names such a file; EEXIST if the name exists.
  bool name(int unnamed, const char* name) const noexcept;

  bool make(const char* name, mode_t mode) const noexcept;
  // Replaces a file, a link or an empty directory with that name.
  bool rename(const char* name, const Directory& to, const char* to_name) const noexcept;
  // Gives each of two entries the name of the other. Not every file system can: EINVAL and others.
  bool exchange(const char* name, const Directory& to, const char* to_name) const noexcept;
  // Never replaces: EEXIST.
  bool rename_new(const char* name, const Directory& to, const char* to_name) const noexcept;
  bool remove_file(const char* name) const noexcept;
  bool remove_folder(const char* name) const noexcept;  // must be empty
  // Removes everything inside except one name. Removes links, does not follow them. Fails with EBUSY after 262,144
  // names: another process adds names faster than they are removed.
  bool remove_inside(const char* except = "") const noexcept;
  // Removes the folders that contain nothing but folders.
  void remove_empty_folders() const noexcept;

  // Waits until the names are on the disk. Returns true if the file system or our rights do not allow that.
  bool sync() const noexcept;
  // Takes the lock of this descriptor (flock) if it is free. Closing the descriptor releases it, however the process
  // ends.
  Locked lock() const noexcept;

 private:
  template <typename Visit>
  bool for_each(const Visit& visit, bool in_place = false) const noexcept;
  // `left`: how many names may still be removed.
  bool remove_inside(const char* except, std::size_t& left) const noexcept;

  Descriptor descriptor_;
};

// "a/b" for "a/b/c"; "" for "c".
std::string_view folders_of(std::string_view path);
// "c" for "a/b/c". Points into `path`.
const char* base_of(const std::string& path);

// Creates the directory of a path that the user named, and its missing parents. Returns false with errno set.
bool make_path(const std::string& path);

// For tests: makes create_unnamed fail as on a file system without unnamed files.
void forbid_unnamed_files(bool forbidden);

}  // namespace tare::io
