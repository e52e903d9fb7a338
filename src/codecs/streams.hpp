// Sequential access to components in small pieces, in bounded memory. Codecs read and write through these classes.
//
// Each object is used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "model/block_reader.hpp"
#include "tare/codec.hpp"
#include "tare/model.hpp"

namespace tare {

// A blob's bytes in order, through a buffer.
class ByteStream {
 public:
  static constexpr std::size_t kMost = std::size_t{64} << 10;

  ByteStream(const Blob& blob, std::uint64_t offset);
  // Returns the next `count` bytes (at most kMost), valid until the next call. Throws `blob.bounds` if fewer remain.
  const std::byte* take(std::size_t count) {
    if (end_ - at_ < count) fill(count);
    const std::byte* const bytes = buffer_.data() + at_;
    at_ += count;
    return bytes;
  }

 private:
  void fill(std::size_t count);

  std::unique_ptr<BlobReader> reader_;
  std::uint64_t left_;  // bytes not yet in the buffer
  std::vector<std::byte> buffer_;
  std::size_t at_ = 0, end_ = 0;
};

// The u64 numbers of an index component, in order.
class IndexStream {
 public:
  IndexStream(const Blob& blob, std::uint64_t first) : bytes_(blob, first * 8) {}
  std::uint64_t next() { return load_le<std::uint64_t>(bytes_.take(8)); }

 private:
  ByteStream bytes_;
};

// A component's storage elements as doubles, in order.
class ElementStream {
 public:
  ElementStream(const Component& component, std::uint64_t first);
  // Fills `out` with the next elements.
  void read(std::span<double> out);

 private:
  std::unique_ptr<BlobReader> reader_;
  DType dtype_;
  std::string type_;
  std::uint64_t left_;   // elements not yet in the buffer
  std::size_t run_ = 0;  // elements of the last fill
  std::vector<std::byte> raw_;
  std::vector<double> values_;
  std::size_t at_ = 0;
};

// The file offset of byte `at` of a blob; nothing if the file holds the blob in another form.
std::optional<std::uint64_t> file_offset(const Blob& blob, std::uint64_t at);

// Whether reading a blob from any offset costs no more than from the beginning.
bool is_seekable(const Blob& blob);

// Data rule of every component of storage type bool: bytes are 0 or 1.
void verify_booleans(const Component& component, const std::function<void(Problem)>& report);
// Data rule of every component: a logical type that Tare knows has its defined storage type.
void verify_type(const Component& component, const std::function<void(Problem)>& report);
// The warning about codes that decode to infinite values; `offset` is the payload's.
Problem infinite_values(std::uint64_t infinite, std::uint64_t values, std::optional<std::uint64_t> offset);

}  // namespace tare
