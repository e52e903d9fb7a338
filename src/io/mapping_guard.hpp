// Keeps a process alive when a mapped file shrinks under it.
//
// Touching a page of a mapping that lies past the new end of the file raises SIGBUS, which by default ends the
// process. While at least one range is guarded, our handler puts zeros under the faulting page and all behind it that have
// none yet, marks the range as damaged and lets the access go on; `Source::check` turns the mark into an Error. Faults elsewhere go to
// whatever handler was installed before ours. With the last range the handler goes too, unless somebody has installed
// another one on top of it, who may call ours: then it stays, and passes everything on.
#pragma once

#include <cstddef>
#include <span>

namespace tare::io {

// As many ranges as can be guarded at a time.
inline constexpr std::size_t kMostGuarded = 4096;

class MappingGuard {
 public:
  // Guards [begin, begin + length), a mapping of whole pages, if there is room for one more. `writable`: a private one,
  // whose pages the process may change.
  MappingGuard(const std::byte* begin, std::size_t length, bool writable = false);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  // False when there are too many already: the range must not be touched then.
  bool works() const { return slot_ < kMostGuarded; }
  // Whether pages of the range had to be replaced.
  bool damaged() const;

  // Makes a private mapping that is guarded writable, and with it the pages that the handler puts in its place. Whole, as it
  // was given to its guard; false, and nothing changes, if there is no such guard or the system refuses. This is the only
  // way to do it: a mapping whose guard believes it is read-only ends the process with the first write after a cut.
  static bool let_write(std::span<const std::byte> mapping) noexcept;

 private:
  std::size_t slot_ = kMostGuarded;
};

}  // namespace tare::io
