// Bytes that a parser may believe, once it has checked them.
//
// A mapped file can be rewritten between two looks at it, so what is parsed is copied first: a length that was found to
// fit is still that length when it is used, and keys that are being sorted stay what they are. `Metadata` and `Window` are
// the ways in which readers (formats, wire) get at the bytes of headers, directories and manifests; `Source::view` is not
// (tools/layers.py looks for it).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tare/source.hpp"

namespace tare::io {

// A copy of a range of a source. Moving it leaves the bytes where they are.
class Metadata {
 public:
  Metadata() = default;
  // Throws `io.source.bounds` before it allocates; the caller has compared the length with its limit. `padding` zeros
  // follow the bytes, for parsers that look beyond the end.
  Metadata(const Source& source, std::uint64_t offset, std::uint64_t length, std::size_t padding = 0);

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.get()), size_}; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

// Short looks at a source, a header here, a name there, each of them a copy; mostly front to back, without a system
// call for each.
class Window {
 public:
  explicit Window(const Source& source, std::size_t ahead = 4096) : source_(source), ahead_(ahead) {}

  // `length` bytes at `offset`, fewer where the source ends. Valid until the next call; a second call for the same bytes
  // may find others. Of a mapped file that was cut they are zeros: call `Source::check` once all looks are done.
  std::span<const std::byte> get(std::uint64_t offset, std::uint64_t length) {
    if (offset < begin_ || length > filled_ || offset - begin_ > filled_ - length) length = fill(offset, length);
    return std::span(buffer_).subspan(static_cast<std::size_t>(offset - begin_), static_cast<std::size_t>(length));
  }

 private:
  // Copies at least `length` bytes to the front of the buffer, fewer where the source ends; returns how many of them there
  // are.
  std::uint64_t fill(std::uint64_t offset, std::uint64_t length);

  const Source& source_;
  std::size_t ahead_;
  Bytes buffer_;
  std::uint64_t begin_ = 0, filled_ = 0;
};

}  // namespace tare::io
