// Records dealt into buckets: sorting by the high digits of a key in one pass, in bounded memory however many there are.
//
// How many go into each bucket is counted before, so every bucket has its place in one scratch file. Used by one thread
// until `seal`, by any number afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/scratch.hpp"
#include "tare/blob.hpp"

namespace tare {

class Buckets {
 public:
  // counts[i]: the records of bucket i; each has `width` bytes.
  Buckets(std::vector<std::uint64_t> counts, std::size_t width);

  // Appends one record or several to a bucket. Throws `codec.changed` when there are more than were counted.
  void put(std::size_t bucket, std::span<const std::byte> records);
  // No more records. Throws `codec.changed` when there are fewer than were counted.
  void seal();

  // The records of a bucket, in the order they were put.
  std::uint64_t count(std::size_t bucket) const { return begins_[bucket + 1] - begins_[bucket]; }
  Blob records(std::size_t bucket) const;

 private:
  void flush(std::size_t bucket);

  std::size_t width_, held_;           // bytes of a record; records held back of each bucket
  std::vector<std::uint64_t> begins_;  // of buckets, in records; the last is the end of all
  std::vector<std::uint64_t> done_;    // records of each bucket that the scratch has
  std::vector<Bytes> waiting_;
  std::unique_ptr<io::Scratch> scratch_;
  SourcePtr source_;
};

}  // namespace tare
