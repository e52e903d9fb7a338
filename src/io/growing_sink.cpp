#include "io/growing_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/place.hpp"

namespace tare::io {

GrowingSink::GrowingSink(std::string path, int fd, std::uint64_t end)
    : path_(std::move(path)), fd_(fd), old_end_(end), written_(end) {
  skip(end);
  enlist();
}

GrowingSink::~GrowingSink() {
  const Changing changing;
  if (process_.is_this()) discard();
  delist();
}

// If truncating fails, the file still leads to the old list, so nothing else is needed. A file that another process has
// truncated is not extended with zeros.
void GrowingSink::discard() noexcept {
  struct stat status {};
  if (committed_ || ::fstat(fd_, &status) != 0 || static_cast<std::uint64_t>(status.st_size) <= old_end_) return;
  if (::ftruncate(fd_, static_cast<off_t>(old_end_)) != 0) return;
}

// Writing after the end of a file that became shorter would leave zeros in place of its tensors.
void GrowingSink::require_whole() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) throw system_error("io.source.read", "cannot look at", path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) < written_)
    throw Error(ErrorKind::io, "io.source.shrank",
                fmt::format("the file became shorter while it was appended to: it had {} bytes and has {}", written_,
                            status.st_size))
        .in(path_);
}

void GrowingSink::commit() {
  process_.require(path_);
  require_whole();
  sync_file(fd_, path_);
  const Changing changing;
  if (::ftruncate(fd_, static_cast<off_t>(position())) != 0)
    throw system_error("io.sink.write", "cannot set the size", path_, errno);
  committed_ = true;
  sync_file(fd_, path_);
}

void GrowingSink::do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const Changing changing;
  {
    const std::scoped_lock lock(mutex_);
    require_whole();
    reserve(offset + bytes.size());
  }
  put(offset, bytes);
  const std::scoped_lock lock(mutex_);
  written_ = std::max(written_, offset + bytes.size());
}

void GrowingSink::put(std::uint64_t offset, std::span<const std::byte> bytes) { pwrite_all(fd_, offset, bytes, path_); }

void GrowingSink::put_flushed(std::uint64_t offset, std::span<const std::byte> bytes) {
  put(offset, bytes);
  sync_file(fd_, path_);
}

std::uint64_t settle_end(int fd, const Source& source, std::uint64_t end, std::span<const std::byte> footer) {
  if (end >= source.size()) return source.size();
  Bytes found(footer.size());
  source.read(end - found.size(), found);
  if (!std::ranges::equal(found, footer)) return source.size();
  if (::ftruncate(fd, static_cast<off_t>(end)) != 0)
    throw system_error("io.sink.write", "cannot set the size", source.name(), errno);
  return end;
}

Descriptor open_for_growing(const std::string& path, std::string_view locked_rule) {
  constexpr std::string_view kDoing = "cannot open for appending";
  const Place place = find_place(path, "io.open.missing", kDoing, FollowLinks::ours, "io.open.refused");
  refuse_blob(place, path, "appended to");
  if (place.store == Store::link)
    throw Error(
        ErrorKind::usage, "io.sink.store",
        "is a link into a content-addressed store, whose file others use under the digest of its bytes, or to a "
        "read-only file, so it is not appended to; append to a copy")
        .in(path)
        .blame(Subject::output);
  Descriptor file(
      ::openat(place.parent.descriptor(), place.name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) throw system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", kDoing, path, errno);
  // Users and stores keep a version of a file by a hard link to it: such a link would show what is appended.
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw system_error("io.open.refused", kDoing, path, errno);
  if (S_ISREG(status.st_mode) && status.st_nlink > 1)
    throw Error(
        ErrorKind::usage, "io.sink.names",
        fmt::format("has {} names (hard links), and whatever is appended would appear under all of them; append "
                    "to a copy",
                    status.st_nlink))
        .in(path)
        .blame(Subject::output);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw system_error(locked_rule, "another program is appending to it", path, errno);
  return file;
}

}  // namespace tare::io
