// The atomic file: an unnamed temporary in the target's directory (O_TMPFILE, so that even a kill leaves nothing), or
// one in a staging directory if the file system has no unnamed files; then fsync, rename over the target, fsync of the
// directory. The target's directory is opened once, and everything happens relative to it.
#include "io/file_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

#include "io/descriptor.hpp"
#include "io/input_files.hpp"
#include "io/own_process.hpp"
#include "io/owner.hpp"
#include "io/place.hpp"
#include "io/staging_directory.hpp"

namespace tare {
namespace {

// Dirty pages are sent to the disk after this many bytes, so that the final fsync has little left to do.
constexpr std::uint64_t kWritebackStep = std::uint64_t{32} << 20;
// How much a file must grow before the free space is checked again: at least kRoomStep, and 1/kRoomPart of the size
// checked last.
constexpr std::uint64_t kRoomStep = std::uint64_t{1} << 20, kRoomPart = 64;

constexpr std::string_view kCreate = "io.sink.create", kCannotCreate = "cannot create a file there";

using SharedDescriptor = std::shared_ptr<const io::Descriptor>;

// Reads the file that is being written. It may outlive the sink.
class WrittenSource final : public Source {
 public:
  WrittenSource(std::string path, SharedDescriptor file, std::uint64_t size)
      : Source(std::move(path), size), file_(std::move(file)) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (io::pread_all(file_->get(), offset, out, name()) != out.size())
      throw io::system_error("io.source.read", "cannot read back what was written", name(), EIO);
  }

 private:
  SharedDescriptor file_;
};

// A regular file that many threads can write at any offset.
class FileSink : public Sink {
 public:
  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }

  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    io::pwrite_all(file(), offset, bytes, path_);
    push_to_disk(bytes.size());
  }

  void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length) override {
    if (from.descriptor() < 0) return Sink::do_copy_at(offset, from, from_offset, length);
    while (length > 0) {
      auto in = static_cast<off_t>(from_offset);
      auto out = static_cast<off_t>(offset);
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(length, std::uint64_t{1} << 30));
      const ssize_t n = ::copy_file_range(from.descriptor(), &in, file(), &out, part, 0);
      if (n < 0 && errno == EINTR) continue;
      // Fails across file systems, or if the kernel lacks support: copy through memory, which also reports a real
      // error.
      if (n <= 0) return Sink::do_copy_at(offset, from, from_offset, length);
      from_offset += static_cast<std::uint64_t>(n);
      offset += static_cast<std::uint64_t>(n);
      length -= static_cast<std::uint64_t>(n);
      push_to_disk(static_cast<std::uint64_t>(n));
    }
  }

  SourcePtr written() override {
    set_size();
    return std::make_shared<WrittenSource>(path_, file_, position());
  }

 protected:
  FileSink(std::string path, bool durable) : durable_(durable), path_(std::move(path)) {}

  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override { do_write_at(offset, bytes); }
  // The file grows later, at the latest in commit. Check the free space now, so that a full disk is reported before the
  // work.
  void do_skip(std::uint64_t new_end) override {
    if (new_end < checked_end_ + std::max(kRoomStep, checked_end_ / kRoomPart)) return;
    struct stat status {};
    const std::uint64_t there = ::fstat(file(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * 512 : 0;
    if (new_end > there) io::expect_room(file(), new_end - there, path_);
    checked_end_ = new_end;
  }

  void set_file(io::Descriptor file) { file_ = std::make_shared<const io::Descriptor>(std::move(file)); }
  int file() const { return file_->get(); }

  bool is_of_this_process() const noexcept { return process_.is_this(); }
  // Does everything but the rename.
  void complete(const std::optional<io::FileRights>& rights) const {
    process_.require(path_);
    set_size();
    if (!io::give_rights(file(), rights)) throw io::system_error("io.sink.write", "cannot set the mode", path_, errno);
    if (durable_) io::sync_file(file(), path_);
  }
  void sync_names(const io::Directory& directory) const {
    if (durable_ && !directory.sync())
      throw io::system_error("io.sink.sync", "cannot flush the directory to disk", path_, errno);
  }

  const bool durable_;

 private:
  void set_size() const {
    if (::ftruncate(file(), static_cast<off_t>(position())) != 0) io::write_failed(path_, errno);
  }

  void push_to_disk(std::uint64_t bytes) {
    if (!durable_) return;
    const std::uint64_t before = pushed_.fetch_add(bytes, std::memory_order_relaxed);
    // Starts writing without waiting; only a hint, so the result does not matter.
    if (before / kWritebackStep != (before + bytes) / kWritebackStep)
      (void)::sync_file_range(file(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }

  std::string path_;
  io::OwnProcess process_;
  SharedDescriptor file_;
  std::atomic<std::uint64_t> pushed_{0};
  std::uint64_t checked_end_ = 0;
};

class AtomicFileSink final : public FileSink {
 public:
  AtomicFileSink(const std::string& path, io::Place place, std::optional<io::FileRights> rights,
                 const FileSinkOptions& options, const Source* replaces)
      : FileSink(path, options.durable),
        place_(std::move(place)),
        overwrite_(options.overwrite),
        replaces_(replaces),
        rights_(rights) {
    io::sweep_staging_directories(place_.parent, false);
    io::Descriptor file = place_.parent.create_unnamed(io::first_mode(rights_));
    unnamed_ = static_cast<bool>(file);
    if (!file && errno != EOPNOTSUPP) throw io::system_error(kCreate, kCannotCreate, path, errno);
    set_file(file ? std::move(file) : create_in_staging());
  }

  void commit() override {
    complete(rights_);
    {
      const io::Changing changing;
      give_name();
      staging_.reset();
    }
    sync_names(place_.parent);
  }

 private:
  static constexpr const char* kInStaging = "file";

  io::Descriptor create_in_staging() {
    staging_.emplace(place_.parent, kCreate, name());
    io::Descriptor file = staging_->directory().create(kInStaging, io::first_mode(rights_));
    if (!file) throw io::system_error(kCreate, kCannotCreate, name(), errno);
    return file;
  }

  // An unnamed file cannot be named after all: /proc disappeared, or the file system does not support links.
  void copy_into_staging() {
    io::Descriptor copy = create_in_staging();
    Bytes buffer(std::size_t{1} << 20);
    for (std::uint64_t at = 0;;) {
      const std::size_t got = io::pread_all(file(), at, buffer, name());
      if (got == 0) break;
      io::pwrite_all(copy.get(), at, std::span(buffer).first(got), name());
      at += got;
    }
    set_file(std::move(copy));
    complete(rights_);
    unnamed_ = false;
  }

  void give_name() {
    const char* const target = place_.name.c_str();
    require_replaced();
    // Uses the final name directly if it is free, so that a temporary name never exists.
    if (unnamed_ && place_.parent.name(file(), target)) return;
    if (unnamed_ && errno != EEXIST) copy_into_staging();
    if (unnamed_ && !overwrite_) throw appeared();
    if (unnamed_) {
      staging_.emplace(place_.parent, kCreate, name());
      if (!staging_->directory().name(file(), kInStaging)) throw cannot_rename("cannot give the file its name");
    }
    const io::Directory& from = staging_->directory();
    require_replaced();
    // A link into a store may be relative, and leads elsewhere from inside the staging directory.
    const bool can_exchange = replaces_ != nullptr && place_.store != io::Store::link;
    if (can_exchange && from.exchange(kInStaging, place_.parent, target)) {
      // Now the old file is in the staging directory, unless another one got the name in the last moment. That one goes back.
      if (is_replaced(from, kInStaging)) return;
      if (!from.exchange(kInStaging, place_.parent, target)) throw cannot_rename("cannot put back another file");
      throw changed();
    }
    if (overwrite_ ? from.rename(kInStaging, place_.parent, target)
                   : from.rename_new(kInStaging, place_.parent, target))
      return;
    if (!overwrite_ && errno == EEXIST) throw appeared();
    throw cannot_rename("cannot rename into place");
  }

  // Checked last, after everything that takes long.
  void require_replaced() const {
    if (!is_replaced(place_.parent, place_.name.c_str())) throw changed();
  }
  // Whether the file with this name is the one that is to be replaced.
  bool is_replaced(const io::Directory& directory, const char* name) const {
    if (replaces_ == nullptr || replaces_->descriptor() < 0) return true;
    struct stat there {
    }, expected{};
    // A link into a store is followed here: the new file replaces the link.
    const int flags = place_.store == io::Store::link ? 0 : AT_SYMLINK_NOFOLLOW;
    return ::fstatat(directory.descriptor(), name, &there, flags) == 0 &&
           ::fstat(replaces_->descriptor(), &expected) == 0 && there.st_dev == expected.st_dev &&
           there.st_ino == expected.st_ino;
  }
  Error changed() const {
    return Error(ErrorKind::io, "io.source.changed",
                 "another file got this name while its successor was written; it stays, and nothing was changed")
        .in(name());
  }

  Error appeared() const {
    return Error(ErrorKind::usage, "io.sink.exists", "appeared while it was being written")
        .in(name())
        .blame(Subject::output)
        .remedy(Remedy::overwrite);
  }
  Error cannot_rename(std::string_view what) const { return io::system_error("io.sink.rename", what, name(), errno); }

  io::Place place_;
  bool overwrite_, unnamed_ = false;
  const Source* replaces_;                // the file that must still have the name; null: any
  std::optional<io::FileRights> rights_;  // nothing: those from creation
  std::optional<io::StagingDirectory> staging_;
};

class PrivateFileSink final : public FileSink {
 public:
  explicit PrivateFileSink(const io::PrivateFile& made)
      : FileSink(made.shown, made.durable), folder_(made.folder.again()), file_name_(made.name), rights_(made.rights) {
    io::Descriptor file = folder_.create(made.name, io::first_mode(rights_));
    if (!file) throw io::system_error(kCreate, kCannotCreate, made.shown, errno);
    set_file(std::move(file));
  }
  ~PrivateFileSink() override {
    if (!committed_ && is_of_this_process()) folder_.remove_file(file_name_.c_str());
  }
  PrivateFileSink(const PrivateFileSink&) = delete;
  PrivateFileSink& operator=(const PrivateFileSink&) = delete;

  void commit() override {
    complete(rights_);
    sync_names(folder_);
    committed_ = true;
  }

 private:
  io::Directory folder_;
  std::string file_name_;
  std::optional<io::FileRights> rights_;
  bool committed_ = false;
};

// A FIFO or device: it cannot be renamed or seeked.
class ThroughSink final : public Sink {
 public:
  ThroughSink(std::string path, const io::Place& place) : path_(std::move(path)) {
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (place.magic ? 0 : O_NOFOLLOW);
    file_ = io::Descriptor(::openat(place.parent.descriptor(), place.name.c_str(), flags));
    struct stat status {};
    const bool looked = file_ && ::fstat(file_.get(), &status) == 0;
    if (!looked) throw io::system_error(kCreate, "cannot open for writing", path_, errno);
    // It was not a regular file when the place was checked; a file is never overwritten in place.
    if (S_ISREG(status.st_mode)) throw io::system_error(kCreate, "became a file during the work", path_, EEXIST);
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

// The rights for a file that replaces a link into a store: at most as open as the store's file, but writable for us.
// Stores sometimes keep their files read-only.
std::optional<io::FileRights> rights_behind(const io::Place& place) {
  struct stat status {};
  if (::fstatat(place.parent.descriptor(), place.name.c_str(), &status, 0) != 0) return std::nullopt;
  return io::FileRights{.mode = (status.st_mode & 0777) | 0600, .at_most = true};
}

std::unique_ptr<Sink> create_sink(const std::string& path, const FileSinkOptions& options, const Source* replaces) {
  io::Place place =
      io::find_place(path, kCreate, kCannotCreate, options.follow_links ? io::FollowLinks::ours : io::FollowLinks::no);
  io::refuse_blob(place, path, "replaced");
  const bool into_store = place.store == io::Store::link;
  struct stat status {};
  const bool exists = place.magic || place.parent.look(place.name.c_str(), status);
  if (!exists && errno != ENOENT)  // such as a name that is too long: report it before the work
    throw io::system_error(kCreate, kCannotCreate, path, errno);
  // What `replaces` gives is a new version of that file.
  if (exists && !place.magic && replaces == nullptr)
    io::refuse_input(place.parent.descriptor(), place.name.c_str(), path);
  if (exists && !place.magic && S_ISDIR(status.st_mode))
    throw Error(ErrorKind::usage, "io.sink.directory", "expected the name of a file, found a directory")
        .in(path)
        .blame(Subject::output);
  if (exists && !into_store && (place.magic || !S_ISREG(status.st_mode))) {
    // Opening a FIFO waits for its reader, and what is written to a device cannot be undone.
    if (!options.overwrite)
      throw Error(ErrorKind::usage, "io.sink.exists", "is a FIFO or a device")
          .in(path)
          .blame(Subject::output)
          .remedy(Remedy::overwrite, "device");
    if (!place.magic && S_ISFIFO(status.st_mode) && !io::is_trusted(status.st_uid))
      throw Error(ErrorKind::usage, "io.sink.link", "is a FIFO of another user, who would get what is written")
          .in(path)
          .blame(Subject::output);
    return std::make_unique<ThroughSink>(path, place);
  }
  if (exists && !options.overwrite)
    throw Error(ErrorKind::usage, "io.sink.exists", "exists already")
        .in(path)
        .blame(Subject::output)
        .remedy(Remedy::overwrite);
  if (!exists && place.link && !options.overwrite)
    throw Error(ErrorKind::usage, "io.sink.link", "is a link to a file that does not exist")
        .in(path)
        .blame(Subject::output)
        .remedy(Remedy::overwrite, "link");
  // The kernel applies the umask to a new file: reading the umask would change it for a moment.
  std::optional<io::FileRights> rights;
  if (exists)
    rights = into_store ? rights_behind(place) : std::optional(io::rights_of(place.parent, place.name.c_str(), status));
  return std::make_unique<AtomicFileSink>(path, std::move(place), rights, options, replaces);
}

}  // namespace

std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options) {
  return create_sink(path, options, nullptr);
}

std::unique_ptr<Sink> io::create_replacement(const std::string& path, const Source& replaced) {
  return create_sink(path, {.overwrite = true}, &replaced);
}

std::unique_ptr<Sink> io::create_private_file(const PrivateFile& file) {
  return std::make_unique<PrivateFileSink>(file);
}

}  // namespace tare
