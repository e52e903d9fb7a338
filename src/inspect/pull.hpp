// Reads blobs in chunks, and splits them into pieces that threads can read independently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "tare/blob.hpp"

namespace tare::inspect {

// Buffer per blob that is being read. A multiple of every element size.
inline constexpr std::size_t kChunk = std::size_t{1} << 20;

// A blob's decoded bytes from `offset` on, a chunk at a time, without a copy if they are already in memory. Mapped
// files are read with pread: that costs less than page faults, and a file that shrinks is an error at once. For one
// thread; the blob must outlive it.
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

// Calls `visit` with decoded bytes [begin, end) in order, in chunks of kChunk (the last may be shorter).
void pull(const Blob& blob, std::uint64_t begin, std::uint64_t end,
          const std::function<void(std::span<const std::byte>)>& visit);

// How many units of `unit` bytes a piece of this blob should have, at least 1, so that pieces can be read in parallel
// at little extra cost. Depends only on the blob, not on the number of threads. A blob that can only be read from its
// beginning is one piece.
std::uint64_t units_per_piece(const Blob& blob, std::uint64_t unit);

}  // namespace tare::inspect
