// Where bytes come from: a file (mapped or read with pread) or memory. All kinds behave alike; a mapping only makes
// views possible without a copy.
//
// A Source does not change anything and may be used from many threads. Blobs keep their Source alive; a view stays valid
// as long as its Source does. What nobody can promise is that the file under it stays as it is: another process may
// write to it, cut it or let it grow at any moment. Hence two ways to its bytes, for two kinds of readers: `read` copies,
// for whoever decides something by what it finds; `view` shows, for whoever can do with any bytes at all.
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

  // The path, or a given name for memory; used in errors.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // Throws Error `io.source.bounds` unless the range lies inside of what the source had when it was opened.
  void require(std::uint64_t offset, std::uint64_t length) const;

  // Fills `out` with the bytes at `offset`. Throws Error `io.source.bounds` past the end, `io.source.shrank` when the
  // file has become shorter since it was opened, `io.source.read` for what the system says.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  // The bytes themselves without a copy, or nothing when this source has none to show. Throws past the end.
  // They may be others at the second look than they were at the first. So a view is for tensor data, for code that is
  // right whatever the bytes are and does not look at one twice to rely on both; lengths, counts and offsets are copied
  // before they are looked at (`read`). If a mapped file shrinks under a view, the lost bytes read as zero. Call `check`
  // after using a view whose content matters.
  [[nodiscard]] std::optional<std::span<const std::byte>> view(std::uint64_t offset, std::uint64_t length) const;

  // Throws `io.source.shrank` if the file has become shorter since it was opened, `io.source.changed` if it has been
  // written to: what was read may then be partly of before and partly of after. A no-op for memory.
  virtual void check() const {}

  // The open file, for copying inside the kernel; -1 when there is none.
  virtual int descriptor() const { return -1; }

 protected:
  Source(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual void do_read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  virtual const std::byte* do_view() const { return nullptr; }

 private:
  friend class io::CheckedRanges;

  std::string name_;
  std::uint64_t size_;
  // Which ranges have been compared with a digest, so that each is hashed once; null until the first is.
  mutable std::mutex checked_mutex_;
  mutable std::shared_ptr<io::CheckedRanges> checked_;
};

using SourcePtr = std::shared_ptr<const Source>;

enum class Access : std::uint8_t {
  mapped,  // views without copies; falls back to `pread` where a file cannot be mapped, or too many are
  pread,   // every byte is copied on request; nothing is mapped
};

// Opens a regular file. Directories, FIFOs, devices and missing or unreadable files are refused, each with its own
// rule (`io.open.*`).
[[nodiscard]] TARE_API SourcePtr open_file(const std::string& path, Access access = Access::mapped);
[[nodiscard]] TARE_API SourcePtr memory_source(Bytes bytes, std::string name = "memory");
// Borrows: `bytes` must outlive the source.
[[nodiscard]] TARE_API SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name = "memory");

}  // namespace tare
