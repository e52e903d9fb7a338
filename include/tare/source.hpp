// Where bytes are read from: a file (mapped or read with pread) or memory. All kinds behave alike; only a mapping
// allows views without a copy.
//
// A Source is immutable and may be used from many threads. Blobs keep their Source alive; a view is valid as long as
// its Source. The file itself may change: another process can write to it, truncate or extend it at any moment. So
// there are two ways to its bytes: `read` copies, for code that makes decisions based on the bytes; `view` does not,
// for code that is correct whatever the bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "tare/export.hpp"
#include "tare/value.hpp"

namespace tare {

namespace io {
class CheckedRanges;
}

class TARE_API Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // The path, or the given name for memory; used in errors.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // Throws Error `io.source.bounds` unless the range is inside what the source had when it was opened.
  void require(std::uint64_t offset, std::uint64_t length) const;

  // Fills `out` with the bytes at `offset`. Throws Error `io.source.bounds` beyond the end, `io.source.shrank` if the
  // file has become shorter since it was opened, `io.source.read` for an error of the system.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  // The bytes without a copy, or nothing if this source cannot show them. Throws beyond the end. Another process may
  // change the bytes between two reads of the same view. So use a view for tensor data, in code that is correct
  // whatever the bytes are and does not read one twice and rely on both values; copy lengths, counts and offsets first
  // (`read`). If a mapped file shrinks, the lost bytes of a view read as zero. Call `check` after using a view whose
  // content matters.
  [[nodiscard]] std::optional<std::span<const std::byte>> view(std::uint64_t offset, std::uint64_t length) const;

  // Throws `io.source.shrank` if the file has become shorter since it was opened, `io.source.changed` if it has been
  // written to: what was read may then mix old and new bytes. A no-op for memory.
  virtual void check() const {}

  // The open file, for copies inside the kernel; -1 if there is none.
  virtual int descriptor() const { return -1; }

 protected:
  Source(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual void do_read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  virtual const std::byte* do_view() const { return nullptr; }

 private:
  friend class io::CheckedRanges;

  std::string name_;
  std::uint64_t size_;
  // Ranges that were already compared with a digest, so that each is hashed once; null until the first.
  mutable std::mutex checked_mutex_;
  mutable std::shared_ptr<io::CheckedRanges> checked_;
};

using SourcePtr = std::shared_ptr<const Source>;

enum class Access : std::uint8_t {
  mapped,  // views without copies; falls back to `pread` if a file cannot be mapped, or too many are
  pread,   // every byte is copied on request; nothing is mapped
};

// Opens a regular file. Refuses directories, FIFOs, devices and missing or unreadable files, each with its own rule
// (`io.open.*`).
[[nodiscard]] TARE_API SourcePtr open_file(const std::string& path, Access access = Access::mapped);
[[nodiscard]] TARE_API SourcePtr memory_source(Bytes bytes, std::string name = "memory");
// Borrows: `bytes` must outlive the source.
[[nodiscard]] TARE_API SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name = "memory");

}  // namespace tare
