#include "io/file_source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

namespace tare::io {
namespace {

Error shrank(const std::string& name, std::uint64_t opened, std::uint64_t now) {
  return Error(ErrorKind::io, "io.source.shrank",
               fmt::format("the file became shorter while it was open: {} bytes at first, {} now", opened, now))
      .in(name);
}

}  // namespace

FileStamp::FileStamp(const struct stat& status)
    : size(static_cast<std::uint64_t>(status.st_size)),
      seconds(status.st_mtim.tv_sec),
      nanoseconds(status.st_mtim.tv_nsec) {}

FileSource::FileSource(std::string path, Descriptor file, const FileStamp& stamp)
    : Source(std::move(path), stamp.size), file_(std::move(file)), opened_(stamp) {}

FileStamp FileSource::stamp() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw system_error("io.source.read", "cannot look at", name(), errno);
  return FileStamp(status);
}

void FileSource::check() const {
  const FileStamp now = stamp();
  if (now.size < size()) throw shrank(name(), size(), now.size);
  if (now == opened_) return;
  throw Error(ErrorKind::io, "io.source.changed",
              now.size > size()
                  ? fmt::format("the file grew while it was open: {} bytes at first, {} now", size(), now.size)
                  : std::string("the file was written to while it was open"))
      .in(name());
}

void FileSource::do_read(std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t got = pread_all(file_.get(), offset, out, name());
  if (got != out.size()) throw shrank(name(), size(), stamp().size).at(offset + got);
}

}  // namespace tare::io
