// Where bytes come from: a file (mapped or read with pread) or memory. All kinds behave alike; a mapping only makes
// views possible without a copy.
//
// A Source is immutable and may be used from many threads. Blobs keep their Source alive; a view stays valid as long
// as its Source does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "tare/value.hpp"

namespace tare {

class Source {
 public:
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  // The path, or a given name for memory; used in errors.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  // Fills `out` with the bytes at `offset`. Throws Error `io.source.bounds` past the end, `io.source.shrank` when the
  // file has become shorter since it was opened, `io.source.read` for what the system says.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  // The bytes themselves without a copy, or nothing when this source has none to show. Throws past the end.
  // If a mapped file shrinks under a view, the lost bytes read as zero and `check` throws: call it after using a
  // view whose content matters.
  std::optional<std::span<const std::byte>> view(std::uint64_t offset, std::uint64_t length) const;

  // Throws `io.source.shrank` if the file under a mapping has become shorter. A no-op for other kinds.
  virtual void check() const {}

  // The open file, for copying inside the kernel; -1 when there is none.
  virtual int descriptor() const { return -1; }

 protected:
  Source(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}
  virtual void do_read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  virtual const std::byte* do_view() const { return nullptr; }

 private:
  void require(std::uint64_t offset, std::uint64_t length) const;

  std::string name_;
  std::uint64_t size_;
};

using SourcePtr = std::shared_ptr<const Source>;

enum class Access : std::uint8_t {
  mapped,  // views without copies; falls back to `pread` where a file cannot be mapped
  pread,   // every byte is copied on request; nothing is mapped
};

// Opens a regular file. Directories, FIFOs, devices and missing or unreadable files are refused, each with its own
// rule (`io.open.*`).
SourcePtr open_file(const std::string& path, Access access = Access::mapped);
SourcePtr memory_source(Bytes bytes, std::string name = "memory");
// Borrows: `bytes` must outlive the source.
SourcePtr borrow_memory(std::span<const std::byte> bytes, std::string name = "memory");

}  // namespace tare
