// Keeps the process alive if a mapped file shrinks.
//
// Touching a page of a mapping beyond the new end of the file raises SIGBUS, which by default ends the process. While
// at least one range is guarded, our handler maps zeros from the faulting page up to the zeros that it mapped before,
// marks the range as damaged and lets the access continue; `Source::check` turns the mark into an Error. Other faults
// go to the handler that was installed before ours. The handler is removed with the last range, unless another one was
// installed on top of it, which may call ours: then it stays and passes everything on.
//
// While a handler of another library is on top of ours, nothing new is guarded, because it may not call ours. Ranges
// that were guarded before stay so only if it does.
#pragma once

#include <cstddef>
#include <span>

namespace tare::io {

// The most ranges that can be guarded at a time.
inline constexpr std::size_t kMostGuarded = 4096;

class MappingGuard {
 public:
  // Guards [begin, begin + length), a mapping of whole pages, if a slot is free and the signal reaches us. `writable`: a private mapping whose
  // pages the process may change.
  MappingGuard(const std::byte* begin, std::size_t length, bool writable = false);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

  // False if the range is not guarded: then it must not be touched.
  bool works() const { return slot_ < kMostGuarded; }
  // Whether pages of the range had to be replaced.
  bool damaged() const;

  // Makes a guarded private mapping writable, including the pages that the handler maps in its place. `mapping` must be
  // the whole range of its guard. Returns false and changes nothing if there is no such guard or the system refuses.
  // There is no other way: if a guard treats a mapping as read-only, the first write after a truncation ends the
  // process.
  static bool let_write(std::span<const std::byte> mapping) noexcept;

 private:
  std::size_t slot_ = kMostGuarded;
};

}  // namespace tare::io
