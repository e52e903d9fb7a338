// Reads ranges of a file into memory, through the page cache or directly.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/once.hpp"
#include "io/descriptor.hpp"
#include "tare/device.hpp"
#include "tare/source.hpp"

namespace tare::device {

// Direct reads begin and end at multiples of this, in the file and in memory.
inline constexpr std::uint64_t kSector = 4096;

// What was read from the system.
struct ReadCounts {
  std::atomic<std::uint64_t> bytes{0}, reads{0}, direct{0};
};

class FileReader {
 public:
  FileReader(SourcePtr source, Reading reading);

  // Reads bytes [offset, offset + length) to memory + (offset % kSector). `memory` is aligned to kSector and has room
  // for all sectors of the range. Throws what Source::read throws.
  void read_sectors(std::uint64_t offset, std::uint64_t length, std::byte* memory, ReadCounts& counts) const;
  // The same into any memory, through the page cache.
  void read(std::uint64_t offset, std::span<std::byte> out, ReadCounts& counts) const;
  // Whether a range is to be read directly.
  bool goes_direct(std::uint64_t offset, std::uint64_t length) const;

  const Source& source() const { return *source_; }
  const SourcePtr& pointer() const { return source_; }

 private:
  void open_direct() const;

  SourcePtr source_;
  Reading reading_;
  mutable Once opened_;
  mutable io::Descriptor direct_;  // the same file, opened for direct reads; empty if that is impossible or not useful
  mutable std::atomic<bool> works_{true};  // false after a direct read was refused
};

}  // namespace tare::device
