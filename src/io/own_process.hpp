// Remembers the process that began an output. A child of `fork` inherits the objects of its parent, and the parent goes on
// with the same files: in the child, nothing on the disk may change when such an object is destroyed.
#pragma once

#include <unistd.h>

#include <string>

#include "tare/error.hpp"

namespace tare::io {

class OwnProcess {
 public:
  bool is_this() const noexcept { return process_ == ::getpid(); }
  // Throws `io.sink.process` in any other process.
  void require(const std::string& path) const {
    if (is_this()) return;
    throw Error(ErrorKind::usage, "io.sink.process",
                "this output was begun by another process, which forked this one; only that one can finish it")
        .in(path);
  }

 private:
  pid_t process_ = ::getpid();
};

}  // namespace tare::io
