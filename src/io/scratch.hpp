// Bytes that are made once and then needed in another order: kept in memory while they are few, else in a file without a
// name in the directory for temporary files (TMPDIR, or /tmp), which disappears with its last user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tare/source.hpp"

namespace tare::io {

// Up to this size nothing touches a disk.
inline constexpr std::uint64_t kScratchInMemory = std::uint64_t{16} << 20;

class Scratch {
 public:
  virtual ~Scratch() = default;
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // What has been written, to be read from any number of threads. Call last: nothing is written afterwards.
  virtual SourcePtr source() = 0;
};

// Room for `size` bytes. Throws io `io.scratch.*` when there is none.
std::unique_ptr<Scratch> make_scratch(std::uint64_t size);

}  // namespace tare::io
