// Copies of bytes, which a parser may rely on once it has checked them.
//
// A mapped file can be rewritten between two reads, so everything that is parsed is copied first: a length that was
// found valid is still the same when it is used, and keys do not change while they are sorted. Readers (formats, wire)
// access the bytes of headers, directories and manifests through `Metadata` and `Window`, never through `Source::view`
// (tools/layers.py checks that).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "tare/source.hpp"

namespace tare::io {

// A copy of a range of a source. Moving it does not move the bytes.
class Metadata {
 public:
  Metadata() = default;
  // Throws `io.source.bounds` before it allocates; the caller has compared the length with its limit. `padding` zeros
  // follow the bytes, for parsers that read beyond the end.
  Metadata(const Source& source, std::uint64_t offset, std::uint64_t length, std::size_t padding = 0);

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.get()), size_}; }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> bytes_;
};

// Copies short pieces of a source, such as a header or a name. Reads ahead, so that mostly sequential access does not
// cost a system call each.
class Window {
 public:
  explicit Window(const Source& source, std::size_t ahead = 4096) : source_(source), ahead_(ahead) {}

  // `length` bytes at `offset`, fewer at the end of the source. Valid until the next call; a second call for the same
  // bytes may return others. If a mapped file was truncated they are zeros: call `Source::check` after the last one.
  std::span<const std::byte> get(std::uint64_t offset, std::uint64_t length) {
    if (offset < begin_ || length > filled_ || offset - begin_ > filled_ - length) length = fill(offset, length);
    return std::span(buffer_).subspan(offset - begin_, length);
  }

 private:
  // Copies at least `length` bytes, fewer at the end of the source, to the beginning of the buffer; returns how many of
  // the `length` it has.
  std::uint64_t fill(std::uint64_t offset, std::uint64_t length);

  const Source& source_;
  std::size_t ahead_;
  Bytes buffer_;
  std::uint64_t begin_ = 0, filled_ = 0;
};

}  // namespace tare::io
