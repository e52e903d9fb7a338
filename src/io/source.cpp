#include "tare/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/budget.hpp"
#include "base/checked.hpp"
#include "io/file_source.hpp"
#include "io/input_files.hpp"
#include "io/mapping_guard.hpp"
#include "io/remote/remote_source.hpp"
#include "io/remote/url.hpp"

namespace tare {
namespace {

// A file mapped into memory for the lifetime of this object.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    guard_.reset();  // once unmapped, the addresses may be used by something else
    if (begin_ != MAP_FAILED) ::munmap(begin_, length_);
  }

  // Returns false if the file cannot be mapped, or if all guards are in use: without a guard, a truncated file would
  // end the process.
  bool map(int file, std::uint64_t size) {
    length_ = size;
    // Private, so that a user of the pages may make them writable without writing to the file.
    begin_ = ::mmap(nullptr, length_, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    if (begin_ == MAP_FAILED) return false;
    guard_.emplace(begin(), length_);
    return guard_->works();
  }
  const std::byte* begin() const { return static_cast<const std::byte*>(begin_); }
  bool damaged() const { return guard_->damaged(); }

 private:
  void* begin_ = MAP_FAILED;
  std::size_t length_ = 0;
  std::optional<io::MappingGuard> guard_;
};

// Reads still use pread: copying from a cold mapping costs a page fault per 4 KiB.
class MappedSource final : public io::FileSource {
 public:
  MappedSource(std::string path, io::Descriptor file, const io::FileStamp& stamp, std::unique_ptr<Mapping> mapping)
      : FileSource(std::move(path), std::move(file), stamp), mapping_(std::move(mapping)) {}
  void check() const override {
    if (mapping_->damaged())
      throw Error(ErrorKind::io, "io.source.shrank",
                  fmt::format("the file became shorter while it was open, or its disk fails: of the {} bytes it had at "
                              "first, some could not be had",
                              size()))
          .in(name());
    FileSource::check();
  }

 protected:
  const std::byte* do_view() const override { return mapping_->begin(); }

 private:
  std::unique_ptr<Mapping> mapping_;
};

class MemorySource final : public Source {
 public:
  MemorySource(Bytes bytes, std::string name) : Source(std::move(name), bytes.size()), owned_(std::move(bytes)) {
    begin_ = owned_.data();
  }
  MemorySource(std::span<const std::byte> bytes, std::string name)
      : Source(std::move(name), bytes.size()), begin_(bytes.data()) {}

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), begin_ + offset, out.size());
  }
  // Never null, so that an empty memory source still has a (zero-length) view.
  const std::byte* do_view() const override {
    static constexpr std::byte kNothing{};
    return begin_ == nullptr ? &kNothing : begin_;
  }

 private:
  Bytes owned_;
  const std::byte* begin_;
};

Error refused(std::string_view rule, std::string_view sentence, const std::string& path) {
  return Error(ErrorKind::io, rule, sentence).in(path);
}

}  // namespace

void Source::require(std::uint64_t offset, std::uint64_t length) const {
  if (fits(offset, length, size_)) return;
  throw Error(ErrorKind::corrupt, "io.source.bounds",
              fmt::format("bytes {} to {} + {} asked for, the file has {}", offset, offset, length, size_))
      .in(name_)
      .at(offset);
}

void Source::read(std::uint64_t offset, std::span<std::byte> out) const {
  require(offset, out.size());
  do_read(offset, out);
}

std::optional<std::span<const std::byte>> Source::view(std::uint64_t offset, std::uint64_t length) const {
  require(offset, length);
  const std::byte* const begin = do_view();
  if (begin == nullptr) return std::nullopt;
  return std::span(begin + offset, length);
}

SourcePtr open_file(const std::string& path, Access access) {
  io::check_path(path);
  if (io::is_remote(path)) return io::remote::open_remote(path, access);
  // O_NONBLOCK: opening a FIFO must not wait for a writer before it is refused. It has no effect on files.
  io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    throw io::system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", "cannot open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw io::system_error("io.open.refused", "cannot look at", path, errno);
  if (S_ISDIR(status.st_mode)) throw refused("io.open.directory", "expected a file, found a directory", path);
  if (!S_ISREG(status.st_mode))
    throw refused("io.open.not_a_file", "is a pipe, socket or device; models are read from regular files", path);

  io::note_input(status);
  if (Budget* const budget = current_budget())
    budget->grant_file(status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size));
  const io::FileStamp stamp(status);
  if (access == Access::mapped && stamp.size > 0) {
    auto mapping = std::make_unique<Mapping>();
    if (mapping->map(file.get(), stamp.size))
      return std::make_shared<MappedSource>(path, std::move(file), stamp, std::move(mapping));
  }
  return std::make_shared<io::FileSource>(path, std::move(file), stamp);
}

SourcePtr memory_source(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name) {
  return std::make_shared<MemorySource>(bytes, std::move(name));
}

}  // namespace tare
