// Pulling blobs in chunks and cutting them into pieces that threads can pull on their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tare/blob.hpp"

namespace tare::inspect {

// Bytes held in memory for each blob that is being pulled. A multiple of every element size.
inline constexpr std::size_t kChunk = std::size_t{1} << 20;

// A blob's decoded bytes from `offset` on, a chunk at a time, without a copy where they are in memory
// already. Mapped files are read all the same: that costs less than the page faults, and a file that shrinks
// is an error at once. One thread; the blob must outlive it.
class Puller {
 public:
  Puller(const Blob& blob, std::uint64_t offset);
  // The next `count` bytes (at most kChunk); valid until the next call.
  std::span<const std::byte> next(std::size_t count);

 private:
  std::span<const std::byte> view_;
  std::unique_ptr<BlobReader> reader_;  // null: everything comes from the view
  std::unique_ptr<std::byte[]> buffer_;
};

// Visits decoded bytes [begin, end) in order, in chunks of kChunk (the last may be shorter).
void pull(const Blob& blob, std::uint64_t begin, std::uint64_t end,
          const std::function<void(std::span<const std::byte>)>& visit);

// How many units of `unit` bytes a piece of this blob should have so that pieces can be pulled in parallel at
// little extra cost; at least 1. The answer depends on the blob alone, never on the number of threads. A blob
// that can only be pulled from its beginning is one piece.
std::uint64_t units_per_piece(const Blob& blob, std::uint64_t unit);

}  // namespace tare::inspect
