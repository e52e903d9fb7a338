// Ranges of a file into memory, around the page cache or through it.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/once.hpp"
#include "io/descriptor.hpp"
#include "tare/device.hpp"
#include "tare/source.hpp"

namespace tare::device {

inline constexpr std::uint64_t kSector = 4096;  // direct reads begin and end on multiples of this, in file and memory

// Of what was asked of the system.
struct ReadCounts {
  std::atomic<std::uint64_t> bytes{0}, reads{0}, direct{0};
};

class FileReader {
 public:
  FileReader(SourcePtr source, Reading reading);

  // Bytes [offset, offset + length) to memory + (offset % kSector). `memory` is aligned to kSector and has room for the
  // sectors around the range. Throws as Source::read.
  void read_sectors(std::uint64_t offset, std::uint64_t length, std::byte* memory, ReadCounts& counts) const;
  // The same into any memory; through the page cache.
  void read(std::uint64_t offset, std::span<std::byte> out, ReadCounts& counts) const;
  // Whether a range is to be read around the page cache.
  bool goes_direct(std::uint64_t offset, std::uint64_t length) const;

  const Source& source() const { return *source_; }
  const SourcePtr& pointer() const { return source_; }

 private:
  void open_direct() const;

  SourcePtr source_;
  Reading reading_;
  mutable Once opened_;
  mutable io::Descriptor direct_;          // the same file once more; none where that is not possible or not wise
  mutable std::atomic<bool> works_{true};  // direct reading, as far as it was tried
};

}  // namespace tare::device
