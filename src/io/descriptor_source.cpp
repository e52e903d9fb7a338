#include "io/descriptor_source.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace tare::io {
namespace {

class DescriptorSource final : public Source {
 public:
  DescriptorSource(Descriptor file, std::string name, std::uint64_t size)
      : Source(std::move(name), size), file_(std::move(file)) {}
  int descriptor() const override { return file_.get(); }

 protected:
  void do_read(std::uint64_t offset, std::span<std::byte> out) const override {
    const std::size_t got = pread_all(file_.get(), offset, out, name());
    if (got != out.size())
      throw Error(
          ErrorKind::io, "io.source.shrank",
          fmt::format("the file became shorter while it was open: {} bytes at first, {} now", size(), offset + got))
          .in(name())
          .at(offset + got);
  }

 private:
  Descriptor file_;
};

}  // namespace

SourcePtr descriptor_source(Descriptor file, std::string name) {
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw system_error("io.open.refused", "cannot look at", name, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, "io.open.not_a_file", "is not a regular file; models are read from those").in(name);
  return std::make_shared<DescriptorSource>(std::move(file), std::move(name),
                                            static_cast<std::uint64_t>(status.st_size));
}

}  // namespace tare::io
