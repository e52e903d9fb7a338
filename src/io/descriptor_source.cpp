#include "io/descriptor_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "io/file_source.hpp"

namespace tare::io {

SourcePtr descriptor_source(Descriptor file, std::string name) {
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) throw system_error("io.open.refused", "cannot look at", name, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::io, "io.open.not_a_file", "is not a regular file; models are read from those").in(name);
  return std::make_shared<FileSource>(std::move(name), std::move(file), FileStamp(status));
}

SourcePtr source_of(int descriptor, std::string name) {
  return descriptor_source(Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)), std::move(name));
}

}  // namespace tare::io
