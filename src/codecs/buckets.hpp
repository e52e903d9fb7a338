// Sorts records by the high digits of a key into buckets: one pass, in bounded memory for any number of records.
//
// The records of each bucket are counted in advance, so every bucket has a fixed place in one scratch file. Used by one
// thread until `seal`, by any number of threads afterwards.
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
  // counts[i]: the number of records in bucket i; a record has `width` bytes.
  Buckets(std::vector<std::uint64_t> counts, std::size_t width);

  // Appends one or more records to a bucket. Throws `codec.changed` if there are more than counted.
  void put(std::size_t bucket, std::span<const std::byte> records);
  // Ends writing. Throws `codec.changed` if there are fewer records than counted.
  void seal();

  // The records of a bucket, in the order in which they were put.
  std::uint64_t count(std::size_t bucket) const { return begins_[bucket + 1] - begins_[bucket]; }
  Blob records(std::size_t bucket) const;

 private:
  void flush(std::size_t bucket);

  std::size_t width_, held_;           // bytes per record; records buffered per bucket
  std::vector<std::uint64_t> begins_;  // where each bucket begins, in records; the last entry is the total
  std::vector<std::uint64_t> done_;    // records of each bucket already in the scratch file
  std::vector<Bytes> waiting_;
  std::unique_ptr<io::Scratch> scratch_;
  SourcePtr source_;
};

}  // namespace tare
