// Where bytes go. Nothing a sink received is visible under its final name before `commit`; a sink destroyed without
// it leaves nothing behind.
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

  // Whether `write_at`, `copy_at` and `skip` work: true for files and memory, false for pipes. Safe to call from
  // several threads on ranges that do not overlap.
  virtual bool positional() const { return false; }
  // Writes inside what was skipped or written before: below `position`. Throws `io.sink.range` beyond.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // The same, straight from a source; may stay inside the kernel.
  void copy_at(std::uint64_t offset, const Source& from, std::uint64_t from_offset, std::uint64_t length);
  // Moves `position` forward over bytes that will be filled by `write_at` (zero until then).
  void skip(std::uint64_t count);
  // Moves `position` back: what follows it is written again or cut off by `commit`. Throws `io.sink.range` for a
  // position that was not reached yet.
  void rewind(std::uint64_t position);

  // What was written so far, to be read back before `commit`; null where that cannot be. It may outlive the sink. What
  // it shows after a further write is the old bytes or the new ones.
  [[nodiscard]] virtual SourcePtr written() { return nullptr; }

  // Makes everything durable and visible, replacing what was there. Call once, last.
  virtual void commit() = 0;

 protected:
  virtual void do_write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  // What positional sinks add. The range lies below `position`; several threads may call at once.
  virtual void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // Through memory, unless there is a better way.
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
  // A link of the user's own leads to the file. Off: it is refused with `io.sink.link`, as those of others are.
  bool follow_links = true;
};

// A file written beside its target under no name (or a temporary one) and renamed over it by `commit`. A kill at any
// moment leaves the old file or the new one, whole. Paths that are not regular files (a FIFO, /dev/null) are written
// straight through and are not positional.
[[nodiscard]] TARE_API std::unique_ptr<Sink> create_file(const std::string& path, const FileSinkOptions& options = {});
// Forward-only: standard output and other descriptors. Does not close `descriptor`.
[[nodiscard]] TARE_API std::unique_ptr<Sink> descriptor_sink(int descriptor, std::string name);

// Collects bytes in memory.
class TARE_API MemorySink final : public Sink {
 public:
  explicit MemorySink(std::string name = "memory") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  bool positional() const override { return true; }
  // Shares the bytes, without what a `rewind` left behind. The sink goes on with a copy once it needs more room.
  [[nodiscard]] SourcePtr written() override;
  void commit() override { resize(position()); }
  const Bytes& bytes() const { return *bytes_; }
  // Everything written; the sink is empty afterwards and may be used again.
  [[nodiscard]] Bytes take();

 protected:
  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void do_skip(std::uint64_t new_end) override;

 private:
  void resize(std::uint64_t size);

  std::string name_;
  std::shared_ptr<Bytes> bytes_ = std::make_shared<Bytes>();  // with the sources that `written` gave out; never null
};

}  // namespace tare
