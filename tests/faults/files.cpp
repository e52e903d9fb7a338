// System calls on files. Standard output and standard error never fail, so that messages about a failure get through.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "faults.hpp"
#include "next.hpp"

namespace {

using namespace faults;

// Returns -1 and sets errno.
int refuse(int code) {
  errno = code;
  return -1;
}

bool is_word(int file) { return file <= 2; }

bool below_proc(const char* path) { return std::strncmp(path, "/proc/", 6) == 0 && lacks("proc"); }

// Only some of the bytes, as after a signal or on a full disk.
std::size_t part_of(std::size_t size) { return size > 1 && fails(Kind::cut) ? size / 2 : size; }

template <typename Open>
int open_with(const char* path, int flags, const Open& go_on) {
  const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  if (creates ? fails_change(Kind::open) : fails(Kind::open)) return refuse(EMFILE);
  if ((flags & O_TMPFILE) == O_TMPFILE && lacks("tmpfile")) return refuse(EOPNOTSUPP);
  if (below_proc(path)) return refuse(ENOENT);
  return go_on();
}

mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_with(path, flags, [&] { return NEXT(open)(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_with(path, flags, [&] { return NEXT(open)(path, flags | O_LARGEFILE, mode); });
}
int openat(int at, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_with(path, flags, [&] { return NEXT(openat)(at, path, flags, mode); });
}
int openat64(int at, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_with(path, flags, [&] { return NEXT(openat)(at, path, flags | O_LARGEFILE, mode); });
}

ssize_t read(int file, void* to, size_t size) { return fails(Kind::read) ? refuse(EIO) : NEXT(read)(file, to, size); }
ssize_t pread(int file, void* to, size_t size, off_t offset) {
  return fails(Kind::read) ? refuse(EIO) : NEXT(pread)(file, to, size, offset);
}
ssize_t pread64(int file, void* to, size_t size, off64_t offset) {
  return fails(Kind::read) ? refuse(EIO) : NEXT(pread)(file, to, size, offset);
}

ssize_t write(int file, const void* from, size_t size) {
  if (is_word(file)) return NEXT(write)(file, from, size);
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(write)(file, from, part_of(size));
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (is_word(file)) return NEXT(writev)(file, parts, count);
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(writev)(file, parts, count);
}
ssize_t pwrite(int file, const void* from, size_t size, off_t offset) {
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(pwrite)(file, from, part_of(size), offset);
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t offset) {
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(pwrite)(file, from, part_of(size), offset);
}
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  if (fails_change(Kind::write)) return refuse(ENOSPC);
  return NEXT(copy_file_range)(from, from_offset, to, to_offset, part_of(size), flags);
}
int ftruncate(int file, off_t size) { return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) {
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(ftruncate)(file, size);
}
int fallocate(int file, int how, off_t offset, off_t size) {
  return fails_change(Kind::write) ? refuse(ENOSPC) : NEXT(fallocate)(file, how, offset, size);
}
int posix_fallocate(int file, off_t offset, off_t size) {
  return fails_change(Kind::write) ? ENOSPC : NEXT(posix_fallocate)(file, offset, size);
}

int fsync(int file) { return fails_change(Kind::sync) ? refuse(EIO) : NEXT(fsync)(file); }
int fdatasync(int file) { return fails_change(Kind::sync) ? refuse(EIO) : NEXT(fdatasync)(file); }

int rename(const char* from, const char* to) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(rename)(from, to);
}
int renameat(int from_at, const char* from, int to_at, const char* to) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(renameat)(from_at, from, to_at, to);
}
int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  if (fails_change(Kind::name)) return refuse(EIO);
  if (flags != 0 && lacks("exchange")) return refuse(EINVAL);
  return NEXT(renameat2)(from_at, from, to_at, to, flags);
}
int link(const char* from, const char* to) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(link)(from, to);
}
int linkat(int from_at, const char* from, int to_at, const char* to, int flags) noexcept {
  if (fails_change(Kind::name)) return refuse(EIO);
  // Without /proc, a descriptor cannot be given a name, except with a rare privilege.
  if (below_proc(from) || ((flags & AT_EMPTY_PATH) != 0 && lacks("proc"))) return refuse(ENOENT);
  return NEXT(linkat)(from_at, from, to_at, to, flags);
}
int symlink(const char* from, const char* to) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(symlink)(from, to);
}
int symlinkat(const char* from, int at, const char* to) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(symlinkat)(from, at, to);
}
int unlink(const char* path) noexcept { return fails_change(Kind::name) ? refuse(EIO) : NEXT(unlink)(path); }
int unlinkat(int at, const char* path, int flags) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(unlinkat)(at, path, flags);
}
int remove(const char* path) noexcept { return fails_change(Kind::name) ? refuse(EIO) : NEXT(remove)(path); }
int rmdir(const char* path) noexcept { return fails_change(Kind::name) ? refuse(EIO) : NEXT(rmdir)(path); }
int mkdir(const char* path, mode_t mode) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(mkdir)(path, mode);
}
int mkdirat(int at, const char* path, mode_t mode) noexcept {
  return fails_change(Kind::name) ? refuse(EIO) : NEXT(mkdirat)(at, path, mode);
}
char* mkdtemp(char* path) noexcept {
  if (!fails_change(Kind::name)) return NEXT(mkdtemp)(path);
  errno = EIO;
  return nullptr;
}
int mkostemp(char* path, int flags) { return fails_change(Kind::name) ? refuse(EIO) : NEXT(mkostemp)(path, flags); }

// Not a change and never refused, but it can reveal /proc.
int stat(const char* path, struct stat* status) noexcept {
  return below_proc(path) ? refuse(ENOENT) : NEXT(stat)(path, status);
}

int chmod(const char* path, mode_t mode) noexcept {
  return fails_change(Kind::mode) ? refuse(EPERM) : NEXT(chmod)(path, mode);
}
int fchmod(int file, mode_t mode) noexcept {
  return fails_change(Kind::mode) ? refuse(EPERM) : NEXT(fchmod)(file, mode);
}
int fchmodat(int at, const char* path, mode_t mode, int flags) noexcept {
  return fails_change(Kind::mode) ? refuse(EPERM) : NEXT(fchmodat)(at, path, mode, flags);
}
int fchown(int file, uid_t user, gid_t group) noexcept {
  return fails_change(Kind::mode) ? refuse(EPERM) : NEXT(fchown)(file, user, group);
}
int flock(int file, int how) noexcept { return fails(Kind::mode) ? refuse(ENOLCK) : NEXT(flock)(file, how); }

}  // extern "C"
