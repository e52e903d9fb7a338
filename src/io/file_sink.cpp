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
#include <optional>

#include "io/descriptor.hpp"
#include "tare/sink.hpp"

namespace tare {
namespace {

// Dirty pages are handed to the disk after this much, so that the final fsync finds little left to do.
constexpr std::uint64_t kWritebackStep = std::uint64_t{32} << 20;

// The file being written, seen by a reader. Has a descriptor of its own: the sink may be gone before it.
class WrittenSource final : public Source {
 public:
  WrittenSource(std::string path, int file, std::uint64_t size)
      : Source(std::move(path), size), file_(::fcntl(file, F_DUPFD_CLOEXEC, 0)) {
    if (!file_) throw io::system_error("io.source.read", "cannot read back what was written", name(), errno);
  }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (io::pread_all(file_.get(), offset, out, name()) != out.size())
      throw io::system_error("io.source.read", "cannot read back what was written", name(), EIO);
  }

 private:
  io::Descriptor file_;
};

class AtomicFileSink final : public Sink {
 public:
  AtomicFileSink(std::string path, const FileSinkOptions& options) : path_(std::move(path)), options_(options) {
    struct stat old {};
    const bool exists = ::stat(path_.c_str(), &old) == 0;
    if (!exists && errno != ENOENT)  // a name too long, a loop of links: found now, not after the work
      throw io::system_error("io.sink.create", "cannot create a file there", path_, errno);
    target_ = follow_links(path_);
    if (exists && !options_.overwrite)
      throw Error(ErrorKind::usage, "io.sink.exists", "exists already; --force replaces it").in(path_);
    // The rights of the old file, without setuid and its like: the new content has not earned them. A new file
    // gets what the umask leaves, which the kernel sees to: asking for the umask would change it for a moment.
    if (exists) mode_ = old.st_mode & 0777;
    open_temporary();
  }

  ~AtomicFileSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }

  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    io::pwrite_all(file_.get(), offset, bytes, path_);
    push_to_disk(bytes.size());
  }

  void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    if (from.descriptor() < 0) return Sink::do_copy_at(offset, from, from_offset, length);
    while (length > 0) {
      auto in = static_cast<off_t>(from_offset);
      auto out = static_cast<off_t>(offset);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, std::uint64_t{1} << 30));
      const ssize_t n = ::copy_file_range(from.descriptor(), &in, file_.get(), &out, part, 0);
      if (n < 0 && errno == EINTR) continue;
      // Across file systems, or where the kernel cannot: through memory instead. A real error shows up there too.
      if (n <= 0) return Sink::do_copy_at(offset, from, from_offset, length);
      from_offset += static_cast<std::uint64_t>(n);
      offset += static_cast<std::uint64_t>(n);
      length -= static_cast<std::uint64_t>(n);
      push_to_disk(static_cast<std::uint64_t>(n));
    }
  }

  SourcePtr written() override {
    set_size();
    return std::make_shared<WrittenSource>(path_, file_.get(), position());
  }

  void commit() override {
    set_size();
    if (mode_ && ::fchmod(file_.get(), *mode_) != 0)
      throw io::system_error("io.sink.write", "cannot set the mode", path_, errno);
    if (options_.durable) io::sync_file(file_.get(), path_);
    // Straight to its final name if that is free: there is no moment with a temporary one.
    if (temporary_.empty() && link_to(target_)) {
      if (options_.durable) io::sync_directory_of(target_);
      return;
    }
    if (options_.overwrite) {
      if (temporary_.empty()) give_name();
      if (::rename(temporary_.c_str(), target_.c_str()) != 0)
        throw io::system_error("io.sink.rename", "cannot rename into place", path_, errno);
    } else {
      put_into_free_name();
    }
    temporary_.clear();
    if (options_.durable) io::sync_directory_of(target_);
  }

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override { do_write_at(offset, bytes); }
  // The file grows when something is written there, at the latest in commit.
  void do_skip(std::uint64_t /*new_end*/) override {}

 private:
  void set_size() const {
    if (::ftruncate(file_.get(), static_cast<off_t>(position())) != 0) io::write_failed(path_, errno);
  }

  // A symbolic link is followed, also to a file that does not exist yet: that file is replaced, not the link.
  static std::string follow_links(const std::string& path) {
    std::string target = path;
    for (int links = 0; links < 40; ++links) {
      std::error_code failed;
      const std::filesystem::path next = std::filesystem::read_symlink(target, failed);
      if (failed) return target;
      target = next.is_absolute() ? next.string() : io::directory_of(target) + "/" + next.string();
    }
    throw io::system_error("io.sink.create", "cannot create a file there", path, ELOOP);
  }

  std::string temporary_name() const {
    static std::atomic<unsigned> counter{0};
    return fmt::format("{}/.tare-{}-{}.tmp", io::directory_of(target_), ::getpid(), counter.fetch_add(1));
  }

  void open_temporary() {
    const std::string directory = io::directory_of(target_);
    const mode_t mode = mode_ ? 0600 : 0666;
    file_ = io::Descriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
    if (file_ || errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == EROFS) {
      if (!file_) throw io::system_error("io.sink.create", "cannot create a file there", path_, errno);
      return;
    }
    temporary_ = temporary_name();
    file_ = io::Descriptor(::open(temporary_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, mode));
    if (file_) return;
    const int code = errno;
    temporary_.clear();
    throw io::system_error("io.sink.create", "cannot create a file there", path_, code);
  }

  // link fails where rename would replace what appeared in the meantime.
  void put_into_free_name() {
    if (temporary_.empty() || (::link(temporary_.c_str(), target_.c_str()) != 0 && errno == EEXIST))
      throw Error(ErrorKind::usage, "io.sink.exists", "appeared while it was being written; --force replaces it")
          .in(path_);
    struct stat mine {
    }, there{};
    const bool linked = ::stat(temporary_.c_str(), &mine) == 0 && ::stat(target_.c_str(), &there) == 0 &&
                        mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
    if (linked) {
      ::unlink(temporary_.c_str());
    } else if (::rename(temporary_.c_str(), target_.c_str()) != 0) {  // a file system without hard links
      throw io::system_error("io.sink.rename", "cannot rename into place", path_, errno);
    }
  }

  // Gives the unnamed file a name; false when that name is taken.
  bool link_to(const std::string& name) const {
    const std::string descriptor = fmt::format("/proc/self/fd/{}", file_.get());
    if (::linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) throw io::system_error("io.sink.rename", "cannot give the file its name", path_, errno);
    return false;
  }

  void give_name() {
    for (int tries = 0; tries < 100; ++tries) {
      const std::string name = temporary_name();
      if (link_to(name)) {
        temporary_ = name;
        return;
      }
    }
    throw io::system_error("io.sink.rename", "cannot give the file its name", path_, EEXIST);
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
  std::optional<mode_t> mode_;  // to be set at the end; nothing: as created
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
    if (!S_ISREG(status.st_mode)) {
      // To open a FIFO waits for its reader, and a device keeps what it is given.
      if (!options.overwrite)
        throw Error(ErrorKind::usage, "io.sink.exists", "is a FIFO or a device; --force writes into it").in(path);
      return std::make_unique<ThroughSink>(path);
    }
  }
  return std::make_unique<AtomicFileSink>(path, options);
}

}  // namespace tare
