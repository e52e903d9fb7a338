// How far the current thread is going to read: a blob knows where it ends, so that nothing is asked of a server beyond that.
#pragma once

#include <cstdint>
#include <optional>

#include "tare/source.hpp"

namespace tare::io::remote {

// While it lives, this thread reads `source` up to `end`.
class ReadingUntil {
 public:
  ReadingUntil(const Source& source, std::uint64_t end) noexcept;
  ~ReadingUntil();
  ReadingUntil(const ReadingUntil&) = delete;
  ReadingUntil& operator=(const ReadingUntil&) = delete;

 private:
  friend std::optional<std::uint64_t> reading_until(const Source& source, std::uint64_t offset) noexcept;
  const Source* source_;
  std::uint64_t end_;
  const ReadingUntil* outer_;
};

// Nothing if it is unknown, or not beyond the offset.
std::optional<std::uint64_t> reading_until(const Source& source, std::uint64_t offset) noexcept;

}  // namespace tare::io::remote
