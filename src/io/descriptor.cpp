#include "io/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace tare::io {

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Error system_error(std::string_view rule, std::string_view doing, const std::string& file, int code) {
  const ErrorKind kind = code == ENOENT || code == ENOTDIR ? ErrorKind::not_found : ErrorKind::io;
  Error error(kind, rule, fmt::format("{}: {}", doing, std::generic_category().message(code)));
  if (code == EMFILE || code == ENFILE || code == ENOMEM) error.blame(Subject::machine);
  return error.in(file);
}

namespace {

// Linux transfers at most about this much per call.
constexpr std::size_t kMost = std::size_t{1} << 30;

}  // namespace

void write_failed(const std::string& file, int code) {
  if (code == EFBIG)
    throw Error(ErrorKind::io, "io.sink.full",
                "cannot write: larger than the file system or the limit on the size of files (ulimit -f) allows")
        .in(file);
  const std::string_view rule = code == ENOSPC || code == EDQUOT ? "io.sink.full" : "io.sink.write";
  throw system_error(rule, "cannot write", file, code);
}

void write_all(int fd, std::span<const std::byte> bytes, const std::string& file) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kMost));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) write_failed(file, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void pwrite_all(int fd, std::uint64_t offset, std::span<const std::byte> bytes, const std::string& file) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), std::min(bytes.size(), kMost), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) write_failed(file, errno);
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

std::size_t pread_all(int fd, std::uint64_t offset, std::span<std::byte> out, const std::string& file) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(fd, out.data() + done, std::min(out.size() - done, kMost), static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw system_error("io.source.read", "cannot read", file, errno).at(offset + done);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

void sync_file(int fd, const std::string& file) {
  if (::fsync(fd) != 0) throw system_error("io.sink.sync", "cannot flush to disk", file, errno);
}

void expect_room(int fd, std::uint64_t bytes, const std::string& file) {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0 || system.f_blocks == 0) return;
  // Only on these file systems do written bytes always take their own space.
  if (system.f_type != EXT4_SUPER_MAGIC && system.f_type != TMPFS_MAGIC) return;
  const auto blocks = ::geteuid() == 0 ? system.f_bfree : system.f_bavail;
  const auto free = checked_mul(blocks, static_cast<std::uint64_t>(system.f_bsize));
  if (!free || *free >= bytes) return;
  throw Error(
      ErrorKind::io, "io.sink.full",
      fmt::format("cannot write: {} are needed, {} are free on the file system", size_text(bytes), size_text(*free)))
      .in(file);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void check_path(const std::string& path) {
  if (const std::size_t at = path.find('\0'); at != std::string::npos)
    throw Error(ErrorKind::usage, "io.path.zero", fmt::format("byte {} of the path is zero", at)).in(path);
}

}  // namespace tare::io
