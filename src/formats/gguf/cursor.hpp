// Reads consecutive fields, in either byte order and with the integer widths of the version.
#pragma once

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/text.hpp"
#include "formats/gguf/gguf.hpp"
#include "io/metadata.hpp"

namespace tare::gguf {

class Cursor {
 public:
  Cursor(const Source& source, const Limits& limits)
      : source_(source), window_(source, kAhead), most_(std::min(source.size(), limits.metadata_bytes)) {}

  void set_form(bool big, bool short_lengths) {
    big_ = big;
    short_lengths_ = short_lengths;
  }
  bool big() const { return big_; }
  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return source_.size() - at_; }
  void skip(std::uint64_t count, std::string_view what) {
    require(count, what);
    at_ += count;
  }

  template <typename T>
  T take(std::string_view what) {
    return load<T>(bytes(sizeof(T), what).data());
  }
  // Reads a length, count or dimension: 32 bits in version 1, 64 bits later.
  std::uint64_t length(std::string_view what) {
    return short_lengths_ ? take<std::uint32_t>(what) : take<std::uint64_t>(what);
  }
  std::uint64_t length_bytes() const { return short_lengths_ ? 4 : 8; }
  // The result is valid until the next call.
  std::span<const std::byte> bytes(std::uint64_t count, std::string_view what) {
    require(count, what);
    const auto found = window_.get(at_, count);
    at_ += count;
    return found;
  }
  std::string_view text(std::string_view what) {
    const std::uint64_t start = at_, count = length(what);
    if (count > kMaxCount || count > left())
      fail("gguf.string.length", fmt::format("{} states {} bytes, the file has {} left", what, count, left()), start);
    return as_text(bytes(count, what));
  }
  template <typename T>
  T load(const std::byte* from) const {
    return big_ ? load_be<T>(from) : load_le<T>(from);
  }

  Error error(ErrorKind kind, std::string_view rule, std::string_view sentence, std::uint64_t at) const {
    return Error(kind, rule, sentence).in(source_.name()).at(at);
  }
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, std::uint64_t at) const {
    throw error(ErrorKind::corrupt, rule, sentence, at);
  }

 private:
  static constexpr std::size_t kAhead = std::size_t{64} << 10;

  void require(std::uint64_t count, std::string_view what) const {
    if (count <= most_ - at_) return;
    if (count > left())
      fail("gguf.truncated",
           fmt::format("{} needs {} bytes, the file has {} left: it is truncated (download it again)", what, count,
                       left()),
           at_);
    throw error(ErrorKind::limit, "gguf.metadata.large",
                fmt::format("expected at most {} bytes of metadata, found more", most_), at_);
  }

  const Source& source_;
  io::Window window_;
  std::uint64_t most_, at_ = 0;
  bool big_ = false, short_lengths_ = false;
};

}  // namespace tare::gguf
