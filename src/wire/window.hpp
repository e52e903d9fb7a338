// Short looks at a source, front to back, without a system call for each: a header here, a name there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tare/source.hpp"

namespace tare::wire {

class Window {
 public:
  explicit Window(const Source& source, std::size_t ahead = 4096) : source_(source), ahead_(ahead) {}

  // `length` bytes at `offset`, fewer where the source ends. Valid until the next call. Of a mapped source
  // this is a view: call `Source::check` once all looks are done.
  std::span<const std::byte> get(std::uint64_t offset, std::uint64_t length) {
    if (offset >= source_.size()) return {};
    length = std::min(length, source_.size() - offset);
    if (const auto view = source_.view(offset, length)) return *view;
    if (offset < begin_ || offset + length > begin_ + buffer_.size()) fill(offset, length);
    return std::span(buffer_).subspan(static_cast<std::size_t>(offset - begin_), static_cast<std::size_t>(length));
  }

 private:
  void fill(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t wanted = std::min(std::max<std::uint64_t>(length, ahead_), source_.size() - offset);
    buffer_.resize(static_cast<std::size_t>(wanted));
    begin_ = offset;
    source_.read(offset, buffer_);
  }

  const Source& source_;
  std::size_t ahead_;
  Bytes buffer_;
  std::uint64_t begin_ = 0;
};

}  // namespace tare::wire
