// Bytes that are produced once and then needed in another order: in memory if they are few, else in an unnamed file in
// the directory for temporary files (TMPDIR, or /tmp), which disappears with its last user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/own_process.hpp"
#include "tare/source.hpp"

namespace tare::io {

class TemporaryFile;

// Up to this size nothing is written to disk, by default.
inline constexpr std::uint64_t kScratchInMemory = std::uint64_t{16} << 20;

class Scratch {
 public:
  virtual ~Scratch() = default;
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // What has been written, readable from any number of threads. Call it last: nothing may be written afterwards.
  virtual SourcePtr source() = 0;
};

// Space for `size` bytes. Throws io `io.scratch.*` if there is not enough. `in_memory`: up to this size nothing is
// written to disk.
std::unique_ptr<Scratch> make_scratch(std::uint64_t size, std::uint64_t in_memory = kScratchInMemory);

// Space for many pieces of a few bytes each, which share files: a descriptor for each piece would be too many. A file
// disappears with the last of its pieces. For one thread at a time.
class SharedScratch {
 public:
  // Throws like make_scratch.
  std::unique_ptr<Scratch> make(std::uint64_t size);

 private:
  std::weak_ptr<TemporaryFile> file_;  // the last one that was made
  std::uint64_t used_ = 0;
  OwnProcess process_;  // a child of fork has the same files, and must not write where its parent does
};

// Whether a temporary file of `size` bytes would take at most half of what is free.
bool has_scratch_room(std::uint64_t size);

}  // namespace tare::io
