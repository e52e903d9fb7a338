// The atomic file: an unnamed temporary beside the target (O_TMPFILE, so that even a kill leaves no litter), or a
// named one where the file system has no such thing; then fsync, rename over the target, fsync of the directory.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "io/descriptor.hpp"
#include "tare/sink.hpp"

namespace tare {
namespace {

// Dirty pages are handed to the disk after this much, so that the final fsync finds little left to do.
constexpr std::uint64_t kWritebackStep = std::uint64_t{32} << 20;

class AtomicFileSink final : public Sink {
 public:
  AtomicFileSink(std::string path, const FileSinkOptions& options) : path_(std::move(path)), options_(options) {
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    // A symbolic link is followed: the file it points to is replaced, not the link.
    target_ = exists ? std::filesystem::canonical(path_).string() : path_;
    if (exists && !options_.overwrite)
      throw Error(ErrorKind::usage, "io.sink.exists", "exists already; --force replaces it").in(path_);
    mode_ = exists ? (old.st_mode & 07777) : (0666 & ~current_umask());
    open_temporary();
  }

  ~AtomicFileSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    io::pwrite_all(file_.get(), offset, bytes, path_);
    push_to_disk(bytes.size());
  }

  void copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    if (from.descriptor() < 0) return Sink::copy_at(offset, from, from_offset, length);
    while (length > 0) {
      auto in = static_cast<off_t>(from_offset);
      auto out = static_cast<off_t>(offset);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, std::uint64_t{1} << 30));
      const ssize_t n = ::copy_file_range(from.descriptor(), &in, file_.get(), &out, part, 0);
      if (n < 0 && errno == EINTR) continue;
      // Across file systems, or where the kernel cannot: through memory instead. A real error shows up there too.
      if (n <= 0) return Sink::copy_at(offset, from, from_offset, length);
      from_offset += static_cast<std::uint64_t>(n);
      offset += static_cast<std::uint64_t>(n);
      length -= static_cast<std::uint64_t>(n);
      push_to_disk(static_cast<std::uint64_t>(n));
    }
  }

  void commit() override {
    if (::ftruncate(file_.get(), static_cast<off_t>(position())) != 0)
      throw io::system_error("io.sink.write", "cannot set the size", path_, errno);
    if (::fchmod(file_.get(), mode_) != 0) throw io::system_error("io.sink.write", "cannot set the mode", path_, errno);
    if (options_.durable) io::sync_file(file_.get(), path_);
    if (temporary_.empty()) give_name();
    if (!options_.overwrite) {
      // link fails where rename would replace what appeared in the meantime.
      if (::link(temporary_.c_str(), target_.c_str()) != 0) {
        if (errno == EEXIST)
          throw Error(ErrorKind::usage, "io.sink.exists", "appeared while it was being written; --force replaces it")
              .in(path_);
        if (::rename(temporary_.c_str(), target_.c_str()) != 0)
          throw io::system_error("io.sink.rename", "cannot rename into place", path_, errno);
        temporary_.clear();
      }
    } else {
      if (::rename(temporary_.c_str(), target_.c_str()) != 0)
        throw io::system_error("io.sink.rename", "cannot rename into place", path_, errno);
      temporary_.clear();
    }
    if (!temporary_.empty()) {
      ::unlink(temporary_.c_str());
      temporary_.clear();
    }
    if (options_.durable) io::sync_directory_of(target_);
  }

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override { write_at(offset, bytes); }
  // The file grows when something is written there, at the latest in commit.
  void do_skip(std::uint64_t /*new_end*/) override {}

 private:
  static mode_t current_umask() {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
  }

  std::string temporary_name() const {
    static std::atomic<unsigned> counter{0};
    const std::filesystem::path target(target_);
    return fmt::format("{}/.{}.{}-{}.tmp", io::directory_of(target_), target.filename().string(), ::getpid(),
                       counter.fetch_add(1));
  }

  void open_temporary() {
    const std::string directory = io::directory_of(target_);
    file_ = io::Descriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file_ || errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EROFS) {
      if (!file_) throw io::system_error("io.sink.create", "cannot create a file there", path_, errno);
      return;
    }
    temporary_ = temporary_name();
    file_ = io::Descriptor(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (file_) return;
    const int code = errno;
    temporary_.clear();
    throw io::system_error("io.sink.create", "cannot create a file there", path_, code);
  }

  void give_name() {
    const std::string descriptor = fmt::format("/proc/self/fd/{}", file_.get());
    for (int tries = 0; tries < 100; ++tries) {
      const std::string name = temporary_name();
      if (::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        temporary_ = name;
        return;
      }
      if (errno != EEXIST) break;
    }
    throw io::system_error("io.sink.rename", "cannot give the file its name", path_, errno);
  }

  void push_to_disk(std::uint64_t bytes) {
    if (!options_.durable) return;
    const std::uint64_t before = pushed_.fetch_add(bytes, std::memory_order_relaxed);
    // Starts writing and does not wait; a hint, so its result does not matter.
    if (before / kWritebackStep != (before + bytes) / kWritebackStep)
      (void)::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }

  std::string path_, target_, temporary_;
  FileSinkOptions options_;
  io::Descriptor file_;
  mode_t mode_ = 0644;
  std::atomic<std::uint64_t> pushed_{0};
};

// A FIFO or device: nothing to rename, nothing to seek in.
class ThroughSink final : public Sink {
 public:
  explicit ThroughSink(std::string path) : path_(std::move(path)) {
    file_ = io::Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) throw io::system_error("io.sink.create", "cannot open for writing", path_, errno);
  }
  const std::string& name() const override { return path_; }
  void commit() override {}

 protected:
  void do_write(std::uint64_t /*offset*/, std::span<const std::byte> bytes) override {
    io::write_all(file_.get(), bytes, path_);
  }

 private:
  std::string path_;
  io::Descriptor file_;
};

}  // namespace

std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      throw Error(ErrorKind::usage, "io.sink.directory", "is a directory, a file name was expected").in(path);
    if (!S_ISREG(status.st_mode)) return std::make_unique<ThroughSink>(path);
  }
  return std::make_unique<AtomicFileSink>(path, options);
}

}  // namespace tare
