// A file that grows in place and is valid at every moment, for containers that are read from their end.
//
// The last bytes of such a file lead to its list of contents. Before the container writes anything after the old end,
// it puts a second reference to the old list far beyond that; then it fills the gap. Truncating the file right after
// the new list is the commit, a single system call. If something fails, truncating the file at its old end undoes
// everything.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "io/descriptor.hpp"
#include "io/own_process.hpp"
#include "io/unfinished.hpp"
#include "tare/sink.hpp"

namespace tare::io {

// Every write passes the gate (unfinished.hpp), so that a signal finds the file with its old end or its new one.
class GrowingSink : public Sink, private Unfinished {
 public:
  ~GrowingSink() override;  // without `commit`, even after an exception, restores the old end
  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }
  // Flushes, and truncates the file at `position`.
  void commit() override;

 protected:
  // How far ahead of the data the reference to the old list is: holes are free, moving the reference costs a flush.
  static constexpr std::uint64_t kAhead = std::uint64_t{64} << 20;
  // A write inside one page is stored completely or not at all.
  static constexpr std::uint64_t kPage = 4096;

  // Writes begin at `end`, the size of the file. The caller owns the descriptor.
  GrowingSink(std::string path, int fd, std::uint64_t end);

  // After it returns, the bytes between the old end and `end` may be written. Called by one thread at a time.
  virtual void reserve(std::uint64_t end) = 0;
  // For `reserve`.
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  void put_flushed(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t old_end() const { return old_end_; }

  void do_write(std::uint64_t offset, std::span<const std::byte> bytes) override { do_write_at(offset, bytes); }
  void do_write_at(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void do_skip(std::uint64_t /*new_end*/) override {}

 private:
  void discard() noexcept override;
  void require_whole() const;

  std::string path_;
  OwnProcess process_;
  int fd_;
  std::uint64_t old_end_;
  std::uint64_t written_;  // bytes that the file must have, unless another process truncated it
  bool committed_ = false;
  std::mutex mutex_;
};

// An append that was killed leaves a long tail after the old end. If `footer` is what the file has before `end`, truncates
// it there, to free the space. Returns the file's size.
std::uint64_t settle_end(int fd, const Source& source, std::uint64_t end, std::span<const std::byte> footer);

// The file at `path`, open for reading and writing and locked (flock) against other appends. Follows a link only if no
// other user can have put it there. Throws `locked_rule` if another program is appending, and `io.sink.store` for a
// file of a content-addressed store or a link to one (place.hpp).
Descriptor open_for_growing(const std::string& path, std::string_view locked_rule);

}  // namespace tare::io
