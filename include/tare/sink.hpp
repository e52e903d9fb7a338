// Where bytes are written. Nothing is visible under the final name before `commit`; a sink that is destroyed without
// `commit` leaves no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tare/export.hpp"
#include "tare/source.hpp"

namespace tare {

class TARE_API Sink {
 public:
  virtual ~Sink() = default;
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Appends at `position`.
  void write(std::span<const std::byte> bytes);
  void write_zeros(std::uint64_t count);
  // Appends zeros up to the next multiple of `alignment`. Throws `io.sink.align` for 0.
  void align(std::uint64_t alignment);
  // Bytes appended so far: the offset of the next `write`.
  std::uint64_t position() const { return position_; }
  // The name for errors.
  virtual const std::string& name() const = 0;

  // Whether `write_at`, `copy_at` and `skip` work: true for files and memory, false for pipes. Several threads may call
  // those on ranges that do not overlap.
  virtual bool positional() const { return false; }
  // Writes over bytes that were skipped or written before: below `position`. Throws `io.sink.range` beyond.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // The same, directly from a source; may stay inside the kernel.
  void copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length);
  // Moves `position` forward over bytes that `write_at` fills later (zero until then).
  void skip(std::uint64_t count);
  // Moves `position` back: later bytes are overwritten, or truncated by `commit`. Throws `io.sink.range` for a position
  // that was not reached yet.
  void rewind(std::uint64_t position);

  // What was written so far, to be read back before `commit`; null if that is impossible. It may outlive the sink.
  // After a further write it shows the old bytes or the new ones.
  [[nodiscard]] virtual SourcePtr written() { return nullptr; }

  // Makes everything durable and visible, replacing what existed. Call once, last.
  virtual void commit() = 0;

 protected:
  virtual void do_write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // For positional sinks. The range is below `position`; several threads may call at once.
  virtual void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Copies through memory unless overridden.
  virtual void do_copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length);
  virtual void do_skip(std::uint64_t new_end);

 private:
  void require_positional() const;
  void require_below_position(std::uint64_t offset, std::uint64_t length) const;

  std::uint64_t position_ = 0;
};

struct FileSinkOptions {
  // Replace an existing file. Off: an existing target is refused with `io.sink.exists`.
  bool overwrite = false;
  // Wait until the bytes and the directory entry are on the disk. Off is for scratch files only.
  bool durable = true;
  // Follow a symbolic link that belongs to the user. Off: refuse it with `io.sink.link`, like links of other users.
  bool follow_links = true;
};

// A file without a name (or with a temporary one) in the directory of its target, renamed over the target by `commit`.
// A kill at any moment leaves the complete old file or the complete new one. Paths that are not regular files (a FIFO,
// /dev/null) are written directly and are not positional.
[[nodiscard]] TARE_API std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options = {});
// Forward-only: standard output and other descriptors. Does not close `descriptor`.
[[nodiscard]] TARE_API std::unique_ptr<Sink> descriptor_sink(int descriptor, std::string name);

class TARE_API MemorySink final : public Sink {
 public:
  explicit MemorySink(std::string name = "memory") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  bool positional() const override { return true; }
  // Shares the bytes below `position`. The sink continues with a copy once it needs more memory.
  [[nodiscard]] SourcePtr written() override;
  void commit() override { resize(position()); }
  const Bytes& bytes() const { return *bytes_; }
  // Returns everything written; the sink is empty afterwards and may be used again.
  [[nodiscard]] Bytes take();

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void do_skip(std::uint64_t new_end) override;

 private:
  void resize(std::uint64_t size);

  std::string name_;
  std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();  // shared with the sources from `written`; never null
};

}  // namespace tare
