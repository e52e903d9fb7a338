#include "tare/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/checked.hpp"
#include "io/descriptor.hpp"
#include "io/mapping_guard.hpp"

namespace tare {
namespace {

Error shrank(const std::string& name, std::uint64_t opened, std::uint64_t now) {
  return Error(ErrorKind::io, "io.source.shrank",
               fmt::format("the file became shorter while it was open: {} bytes at first, {} now", opened, now))
      .in(name);
}

std::uint64_t size_now(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

class FileSource : public Source {
 public:
  FileSource(std::string path, io::Descriptor file, std::uint64_t size)
      : Source(std::move(path), size), file_(std::move(file)) {}
  int descriptor() const override { return file_.get(); }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t got = io::pread_all(file_.get(), offset, out, name());
    if (got != out.size()) throw shrank(name(), size(), size_now(file_.get())).at(offset + got);
  }
  const io::Descriptor& file() const { return file_; }

 private:
  io::Descriptor file_;
};

// Large reads go through pread all the same: copying out of a cold mapping costs a page fault for every 4 KiB.
class MappedSource final : public FileSource {
 public:
  MappedSource(std::string path, io::Descriptor file, std::uint64_t size, const std::byte* begin)
      : FileSource(std::move(path), std::move(file), size),
        mapping_{begin, static_cast<std::size_t>(size)},
        guard_(begin, static_cast<std::size_t>(size)) {}
  void check() const override {
    const std::uint64_t now = size_now(file().get());
    if (guard_.damaged() || now < size()) throw shrank(name(), size(), now);
  }

 protected:
  const std::byte* do_view() const override { return mapping_.begin; }

 private:
  struct Mapping {
    const std::byte* begin;
    std::size_t length;
    ~Mapping() { ::munmap(const_cast<std::byte*>(begin), length); }
  };
  // The guard goes first: once unmapped, the addresses may be somebody else's.
  Mapping mapping_;
  io::MappingGuard guard_;
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
  // Never null, so that an empty memory source still shows its (empty) bytes.
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
  return std::span(begin + offset, static_cast<std::size_t>(length));
}

SourcePtr open_file(const std::string& path, Access access) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer before we can refuse it. It has no effect on files.
  io::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    throw io::system_error(errno == ENOENT ? "io.open.missing" : "io.open.refused", "cannot open", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw io::system_error("io.open.refused", "cannot look at", path, errno);
  if (S_ISDIR(status.st_mode)) throw refused("io.open.directory", "is a directory, a file was expected", path);
  if (!S_ISREG(status.st_mode))
    throw refused("io.open.not_a_file", "is a pipe, socket or device; models are read from regular files", path);

  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (access == Access::mapped && size > 0) {
    void* const begin = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, file.get(), 0);
    if (begin != MAP_FAILED)
      return std::make_shared<MappedSource>(path, std::move(file), size, static_cast<const std::byte*>(begin));
  }
  return std::make_shared<FileSource>(path, std::move(file), size);
}

SourcePtr memory_source(Bytes bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name) {
  return std::make_shared<MemorySource>(bytes, std::move(name));
}

}  // namespace tare
