// Keeps a process alive when a mapped file shrinks under it.
//
// Touching a page of a mapping that lies past the new end of the file raises SIGBUS, which by default ends the
// process. While at least one range is guarded, our handler puts a page of zeros under the faulting address, marks the
// range as damaged and lets the access go on; `Source::check` turns the mark into an Error. Faults elsewhere go to
// whatever handler was installed before ours.
#pragma once

#include <cstddef>

namespace tare::io {

class MappingGuard {
 public:
  // Guards [begin, begin + length), a mapping of whole pages.
  MappingGuard(const std::byte* begin, std::size_t length);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  // Whether a page of the range had to be replaced.
  bool damaged() const;

 private:
  std::size_t slot_;
};

}  // namespace tare::io
