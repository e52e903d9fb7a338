// Ranges of a source that were compared with their stored digest, each only once.
//
// Kept with the source rather than with a blob, because blobs are copied along with tensors. Ranges that are never read
// cost nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/once.hpp"
#include "tare/digest.hpp"
#include "tare/error.hpp"
#include "tare/source.hpp"

namespace tare::io {

class CheckedRanges {
 public:
  // Throws `digest.mismatch` unless the `length` bytes at `offset` have this digest, whose algorithm must be known.
  // `have`: the bytes, if they were already read.
  static void check(const Source& source, std::uint64_t offset, std::uint64_t length, const Digest& digest,
                    std::span<const std::byte> have = {});

 private:
  struct Range {
    std::uint64_t offset, length;
    std::string digest;
    auto operator<=>(const Range&) const = default;
  };
  // Remembers a mismatch; a range that could not be read is read again.
  struct Answer {
    Once once;
    std::unique_ptr<const Error> mismatch;
  };
  Answer& answer_for(Range range);

  std::mutex mutex_;
  std::map<Range, std::unique_ptr<Answer>> answers_;
};

}  // namespace tare::io
