#include "io/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "io/unfinished.hpp"

namespace tare::io {
namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// The most names that one `remove_inside` removes: far more than a model has files.
constexpr std::size_t kMostRemoved = std::size_t{1} << 18;

// System calls without a function in every C library: glibc has getdents64 since 2.30 (the released files run with 2.28), and musl
// has no renameat2.
ssize_t read_entries(int directory, void* buffer, std::size_t length) noexcept {
  return ::syscall(SYS_getdents64, directory, buffer, length);
}
#ifndef __GLIBC__
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1  // NOLINT(cppcoreguidelines-macro-usage): as the kernel's header has it
#endif
#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2  // NOLINT(cppcoreguidelines-macro-usage): likewise
#endif
int renameat2(int from, const char* name, int to, const char* to_name, unsigned flags) noexcept {
  return static_cast<int>(::syscall(SYS_renameat2, from, name, to, to_name, flags));
}
#endif

std::atomic<bool> unnamed_forbidden{false};

// A part of a path, NUL-terminated for system calls.
class Part {
 public:
  explicit Part(std::string_view text) {
    if (text.size() < text_.size()) std::copy(text.begin(), text.end(), text_.begin());
    fits_ = text.size() < text_.size();
  }
  explicit operator bool() const {
    if (!fits_) errno = ENAMETOOLONG;
    return fits_;
  }
  const char* get() const { return text_.data(); }

 private:
  std::array<char, NAME_MAX + 1> text_{};
  bool fits_ = false;
};

using ProcPath = std::array<char, 32>;
ProcPath proc_path(int descriptor) {
  ProcPath path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  return path;
}

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool is_dots(const char* name) { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

}  // namespace

std::string_view folders_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

const char* base_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

bool make_path(const std::string& path) {
  if (Directory::open(path.c_str())) return true;
  if (errno != ENOENT) return false;
  const std::size_t end = path.find_last_not_of('/');
  if (end == std::string::npos) return false;  // "", or a "/" that cannot be opened
  const std::string plain = path.substr(0, end + 1), above = directory_of(plain);
  if (!make_path(above)) return false;
  const Directory parent = Directory::open(above.c_str());
  return parent && (parent.make(base_of(plain), 0777) || errno == EEXIST);
}

void forbid_unnamed_files(bool forbidden) { unnamed_forbidden.store(forbidden); }

Directory Directory::open(const char* path) noexcept {
  Descriptor opened(::open(path, kOpenFolder));
  if (!opened && errno == EACCES) opened = Descriptor(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  return Directory(std::move(opened));
}

Directory Directory::again() const noexcept { return Directory(Descriptor(::fcntl(descriptor(), F_DUPFD_CLOEXEC, 0))); }

Directory Directory::enter(const char* name) const noexcept {
  Descriptor opened(::openat(descriptor(), name, kOpenFolder | O_NOFOLLOW));
  if (!opened && errno == EACCES)
    opened = Descriptor(::openat(descriptor(), name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  return Directory(std::move(opened));
}

Directory Directory::walk(std::string_view folders, bool make_missing) const noexcept {
  Directory at = again();
  while (at && !folders.empty()) {
    const std::size_t slash = std::min(folders.find('/'), folders.size());
    const Part part(folders.substr(0, slash));
    folders.remove_prefix(std::min(slash + 1, folders.size()));
    if (!part) return {};
    Directory next = at.enter(part.get());
    if (!next && errno == ENOENT && make_missing && (at.make(part.get(), 0777) || errno == EEXIST))
      next = at.enter(part.get());
    at = std::move(next);
  }
  return at;
}

bool Directory::status(struct stat& out) const noexcept { return ::fstat(descriptor(), &out) == 0; }

bool Directory::look(const char* name, struct stat& out) const noexcept {
  return ::fstatat(descriptor(), name, &out, AT_SYMLINK_NOFOLLOW) == 0;
}

bool Directory::has(const char* name) const noexcept {
  struct stat there {};
  return look(name, there);
}

bool Directory::is_still(const char* name, int opened) const noexcept {
  struct stat there {
  }, mine{};
  return look(name, there) && ::fstat(opened, &mine) == 0 && same(there, mine);
}

bool Directory::writable() const noexcept { return ::faccessat(descriptor(), ".", W_OK | X_OK, AT_EACCESS) == 0; }

// Visits every name until `visit` returns false. Opens a new descriptor because the position in the list belongs to it.
// `in_place`: uses this one, which only one thread may do at a time.
template <typename Visit>
bool Directory::for_each(const Visit& visit, bool in_place) const noexcept {
  in_place = in_place && ::lseek(descriptor(), 0, SEEK_SET) == 0;  // fails if it may not be listed
  const Descriptor own(in_place ? -1 : ::openat(descriptor(), ".", kOpenFolder));
  const int listed = in_place ? descriptor() : own.get();
  if (listed < 0) return false;
  alignas(dirent64) std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t length = read_entries(listed, buffer.data(), buffer.size());
    if (length <= 0) return length == 0;
    for (ssize_t at = 0; at < length;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      if (!is_dots(entry->d_name) && !visit(static_cast<const char*>(entry->d_name))) return true;
      at += entry->d_reclen;
    }
  }
}

std::vector<std::string> Directory::names() const {
  std::vector<std::string> found;
  std::exception_ptr failed;
  const bool listed = for_each([&](const char* name) {
    try {
      found.emplace_back(name);
      return true;
    } catch (...) {
      failed = std::current_exception();
      return false;
    }
  });
  if (!listed) throw std::system_error(errno, std::generic_category());
  if (failed) std::rethrow_exception(failed);
  std::sort(found.begin(), found.end());
  return found;
}

bool Directory::is_empty() const noexcept {
  bool empty = true;
  return for_each([&](const char*) { return empty = false; }) && empty;
}

bool Directory::has_files() const noexcept {
  bool files = false;
  for_each([&](const char* name) {
    const Directory folder = enter(name);
    files = !folder || folder.has_files();
    return !files;
  });
  return files;
}

Descriptor Directory::read(const char* name, bool follow) const noexcept {
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW);
  return Descriptor(::openat(descriptor(), name, flags));
}

Descriptor Directory::create(const char* name, mode_t mode) const noexcept {
  const Changing changing;
  if (!step("create", name)) return {};
  return Descriptor(::openat(descriptor(), name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode));
}

Descriptor Directory::create_unnamed(mode_t mode) const noexcept {
  if (unnamed_forbidden.load(std::memory_order_relaxed)) {
    errno = EOPNOTSUPP;
    return {};
  }
  Descriptor file(::openat(descriptor(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  // Kernels without O_TMPFILE treat this as an attempt to write to a directory.
  if (!file && (errno == EISDIR || errno == EINVAL)) errno = EOPNOTSUPP;
  if (!file) return {};
  struct stat here {
  }, there{};
  const ProcPath path = proc_path(file.get());
  if (::fstat(file.get(), &here) == 0 && ::stat(path.data(), &there) == 0 && same(here, there)) return file;
  errno = EOPNOTSUPP;
  return {};
}

bool Directory::name(int unnamed, const char* name) const noexcept {
  const Changing changing;
  const ProcPath path = proc_path(unnamed);
  return step("link", name) && ::linkat(AT_FDCWD, path.data(), descriptor(), name, AT_SYMLINK_FOLLOW) == 0;
}

bool Directory::make(const char* name, mode_t mode) const noexcept {
  const Changing changing;
  return step("mkdir", name) && ::mkdirat(descriptor(), name, mode) == 0;
}

bool Directory::rename(const char* name, const Directory& to, const char* to_name) const noexcept {
  const Changing changing;
  return step("rename", to_name) && ::renameat(descriptor(), name, to.descriptor(), to_name) == 0;
}

bool Directory::exchange(const char* name, const Directory& to, const char* to_name) const noexcept {
  const Changing changing;
  return step("rename", to_name) && renameat2(descriptor(), name, to.descriptor(), to_name, RENAME_EXCHANGE) == 0;
}

bool Directory::rename_new(const char* name, const Directory& to, const char* to_name) const noexcept {
  const Changing changing;
  if (!step("rename", to_name)) return false;
  if (renameat2(descriptor(), name, to.descriptor(), to_name, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return false;
  // The file system does not support RENAME_NOREPLACE. A hard link does not replace either.
  if (::linkat(descriptor(), name, to.descriptor(), to_name, 0) == 0) {
    if (::unlinkat(descriptor(), name, 0) == 0) return true;
    const int code = errno;
    ::unlinkat(to.descriptor(), to_name, 0);
    errno = code;
    return false;
  }
  if (errno == EEXIST || errno == ENOENT) return false;
  // Hard links do not work either: a check before the rename is the best that is left.
  if (to.has(to_name)) {
    errno = EEXIST;
    return false;
  }
  return ::renameat(descriptor(), name, to.descriptor(), to_name) == 0;
}

bool Directory::remove_file(const char* name) const noexcept {
  const Changing changing;
  return step("unlink", name) && ::unlinkat(descriptor(), name, 0) == 0;
}

bool Directory::remove_folder(const char* name) const noexcept {
  const Changing changing;
  return step("rmdir", name) && ::unlinkat(descriptor(), name, AT_REMOVEDIR) == 0;
}

bool Directory::remove_inside(const char* except) const noexcept {
  std::size_t left = kMostRemoved;
  return remove_inside(except, left);
}

bool Directory::remove_inside(const char* except, std::size_t& left) const noexcept {
  // A listing may miss names if the directory changes during it, so repeat until nothing more can be removed. `left`
  // bounds the loop if another process keeps adding names.
  for (bool again = true; again;) {
    again = false;
    bool failed = false;
    // In place, so that leftovers are removed even if the process has no descriptor left.
    const bool listed = for_each(
        [&](const char* name) {
          if (std::strcmp(name, except) == 0) return true;
          if (left == 0) return false;
          --left;
          bool gone = remove_file(name);
          if (!gone && (errno == EISDIR || errno == EPERM)) {
            const Directory folder = enter(name);
            gone = folder && folder.remove_inside("", left) && remove_folder(name);
          }
          again = again || gone;
          failed = failed || !gone;
          return true;
        },
        true);
    if (left == 0) errno = EBUSY;
    if (!listed || left == 0 || (failed && !again)) return false;
  }
  return true;
}

void Directory::remove_empty_folders() const noexcept {
  for_each([&](const char* name) {
    if (const Directory folder = enter(name)) {
      folder.remove_empty_folders();
      remove_folder(name);
    }
    return true;
  });
}

bool Directory::sync() const noexcept {
  return ::fsync(descriptor()) == 0 || errno == EINVAL || errno == EBADF || errno == EOPNOTSUPP;
}

Locked Directory::lock() const noexcept {
  if (::flock(descriptor(), LOCK_EX | LOCK_NB) == 0) return Locked::yes;
  return errno == EWOULDBLOCK ? Locked::by_another : Locked::unsupported;
}

}  // namespace tare::io
