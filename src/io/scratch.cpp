#include "io/scratch.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/keyed_hash.hpp"
#include "io/descriptor.hpp"
#include "io/directory.hpp"

namespace tare::io {
namespace {

std::string temporary_directory() {
  const char* const asked = std::getenv("TMPDIR");
  return asked == nullptr || *asked == '\0' ? "/tmp" : asked;
}

// Never has a name, or only until it is removed right after its creation.
Descriptor nameless_file(const std::string& path) {
  const Directory directory = Directory::open(path.c_str());
  if (!directory) return {};
  if (Descriptor file = directory.create_unnamed(0600)) return file;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    // The name cannot be guessed; if it exists nevertheless, try another.
    const std::string name = fmt::format(".tare-{:016x}", keyed_hash(fmt::format("{} {}", ::getpid(), i)));
    if (Descriptor named = directory.create(name.c_str(), 0600)) {
      directory.remove_file(name.c_str());
      return named;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

}  // namespace

class TemporaryFile {
 public:
  explicit TemporaryFile(std::uint64_t size)
      : directory_(temporary_directory()), file_(nameless_file(directory_)), size_(size) {
    if (!file_)
      throw system_error("io.scratch.open", fmt::format("cannot make a temporary file of {} bytes in", size),
                         directory_, errno);
    if (const int error = ::ftruncate(file_.get(), static_cast<off_t>(size)); error != 0) failed(errno);
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) failed(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      offset += static_cast<std::uint64_t>(done);
    }
  }
  const std::string& directory() const { return directory_; }
  int descriptor() const { return file_.get(); }
  std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void failed(int code) const {
    throw system_error(
        "io.scratch.full",
        fmt::format("no space for {} temporary bytes (TMPDIR names another place); cannot write to", size_), directory_,
        code);
  }

  std::string directory_;
  Descriptor file_;
  std::uint64_t size_;
};

namespace {

class ScratchSource final : public Source {
 public:
  ScratchSource(std::shared_ptr<const TemporaryFile> file, std::uint64_t begin, std::uint64_t size)
      : Source(file->directory(), size), file_(std::move(file)), begin_(begin) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (pread_all(file_->descriptor(), begin_ + offset, out, name()) != out.size())
      throw Error(ErrorKind::io, "io.scratch.read", "a temporary file became shorter").in(name());
  }

 private:
  std::shared_ptr<const TemporaryFile> file_;
  std::uint64_t begin_;
};

class FileScratch final : public Scratch {
 public:
  FileScratch(std::shared_ptr<TemporaryFile> file, std::uint64_t begin, std::uint64_t size)
      : file_(std::move(file)), begin_(begin), size_(size) {}
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override { file_->write(begin_ + offset, bytes); }
  SourcePtr source() override { return std::make_shared<ScratchSource>(std::move(file_), begin_, size_); }

 private:
  std::shared_ptr<TemporaryFile> file_;
  std::uint64_t begin_, size_;
};

class MemoryScratch final : public Scratch {
 public:
  explicit MemoryScratch(std::uint64_t size) : bytes_(size) {}
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  SourcePtr source() override { return memory_source(std::move(bytes_), "scratch"); }

 private:
  Bytes bytes_;
};

}  // namespace

bool has_scratch_room(std::uint64_t size) {
  struct statvfs found {};
  if (::statvfs(temporary_directory().c_str(), &found) != 0) return false;
  return size / std::max<std::uint64_t>(found.f_frsize, 1) < found.f_bavail / 2;
}

std::unique_ptr<Scratch> make_scratch(std::uint64_t size, std::uint64_t in_memory) {
  if (size <= in_memory) return std::make_unique<MemoryScratch>(size);
  return std::make_unique<FileScratch>(std::make_shared<TemporaryFile>(size), 0, size);
}

std::unique_ptr<Scratch> SharedScratch::make(std::uint64_t size) {
  constexpr std::uint64_t kFileBytes = std::uint64_t{16} << 20;
  if (size > kFileBytes / 2) return make_scratch(size, 0);
  auto file = process_.is_this() ? file_.lock() : nullptr;
  if (file == nullptr || size > file->size() - used_) {
    file = std::make_shared<TemporaryFile>(kFileBytes);
    file_ = file;
    used_ = 0;
    process_ = OwnProcess();
  }
  const std::uint64_t begin = used_;
  used_ += size;
  return std::make_unique<FileScratch>(std::move(file), begin, size);
}

}  // namespace tare::io
