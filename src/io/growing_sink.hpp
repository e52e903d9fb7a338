// A file that grows in place and is whole at every moment: what containers that are found from their end share.
//
// The last bytes of such a file lead to its list of contents. Before anything is written behind the old end, the container
// puts something far beyond it that leads to the old list as well; then the gap is filled; cutting the file right after the
// new list is the commit, a single system call. When something fails, cutting it at its old end undoes everything.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "io/descriptor.hpp"
#include "io/unfinished.hpp"
#include "tare/sink.hpp"

namespace tare::io {

// Every write passes the gate (unfinished.hpp), so that a signal finds the file with its old end or its new one.
class GrowingSink : public Sink, private Unfinished {
 public:
  ~GrowingSink() override;  // without `commit`, also on any exception: the old end
  const std::string& name() const override { return path_; }
  bool positional() const override { return true; }
  // Flushes, and cuts the file at `position`.
  void commit() override;

 protected:
  // How far ahead of the data the way to the old list is kept: holes cost nothing, moving it costs a flush.
  static constexpr std::uint64_t kAhead = std::uint64_t{64} << 20;
  // What is put inside one page is there or not, never in part.
  static constexpr std::uint64_t kPage = 4096;

  // Writes go behind `end`, the size of the file. The descriptor belongs to the caller.
  GrowingSink(std::string path, int fd, std::uint64_t end);

  // Makes room: bytes between the old end and `end` may be written once this returns. One thread at a time.
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
  int fd_;
  std::uint64_t old_end_;
  std::uint64_t written_;  // the file has at least these bytes, or somebody has truncated it
  bool committed_ = false;
  std::mutex mutex_;
};

// The file at `path`, open for reading and writing and locked against others who ask the same (flock). A link is followed
// only if nobody else can have planted it. Throws `locked_rule` if somebody else is at it, and `io.sink.store` for a file of a
// content-addressed store and a link to one (place.hpp).
Descriptor open_for_growing(const std::string& path, std::string_view locked_rule);

}  // namespace tare::io
