// Reads strided runs of bytes from a blob in ascending order. It reads gaps of at most 512 bytes as well (a call costs
// more than that) and skips larger ones. A compressed blob is read forwards from the first needed byte, unless its bytes
// are being kept because it was read out of order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "tare/blob.hpp"

namespace tare::slicing {

inline constexpr std::uint64_t kGap = 512;          // gaps up to this are read, not skipped
inline constexpr std::uint64_t kDecodedGap = 4096;  // the same if every read decodes something
inline constexpr std::uint64_t kSpan = std::uint64_t{256} << 10;
// A blob that can be opened at this granularity counts as random access.
inline constexpr std::uint64_t kFineStep = 4096;

// `count` runs of `length` bytes, `stride` bytes apart (may be negative), which go `to_stride` apart into the result.
struct Run {
  std::uint64_t from;  // offset of the first run
  std::uint64_t count, length;
  std::int64_t stride;
  std::byte* to;
  std::uint64_t to_stride = 0;

  std::uint64_t last() const { return from + (count - 1) * static_cast<std::uint64_t>(stride); }
  std::uint64_t low() const { return std::min(from, last()); }
  std::uint64_t high() const { return std::max(from, last()) + length; }
  std::uint64_t step() const { return static_cast<std::uint64_t>(stride < 0 ? -stride : stride); }
  // Runs [first, first + n) of it.
  Run part(std::uint64_t first, std::uint64_t n) const {
    return {from + first * static_cast<std::uint64_t>(stride), n, length, stride, to + first * to_stride, to_stride};
  }
};

template <std::size_t Width>
void gather_fixed(const Run& run, const std::byte* first) {
  std::byte* to = run.to;
  for (std::uint64_t i = 0; i < run.count; ++i, to += run.to_stride)
    std::memcpy(to, first + static_cast<std::int64_t>(i) * run.stride, Width);
}

// `bytes` begins at offset `base` of the sliced blob.
inline void gather(const Run& run, const std::byte* bytes, std::uint64_t base) {
  const std::byte* const first = bytes + (run.from - base);
  switch (run.length) {
    case 1: return gather_fixed<1>(run, first);
    case 2: return gather_fixed<2>(run, first);
    case 4: return gather_fixed<4>(run, first);
    case 8: return gather_fixed<8>(run, first);
    case 16: return gather_fixed<16>(run, first);
    default: break;
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::memcpy(run.to + i * run.to_stride, first + static_cast<std::int64_t>(i) * run.stride,
                static_cast<std::size_t>(run.length));
}

inline bool is_random_access(const Blob& blob) {
  const std::uint64_t step = blob.seek_granularity();
  return step != 0 && step <= kFineStep;
}

// Reads parts of a blob, mostly in ascending order.
class Fetcher {
 public:
  explicit Fetcher(const Blob& blob) : blob_(blob), step_(blob.seek_granularity()), random_(is_random_access(blob)) {}

  void read(std::uint64_t offset, std::span<std::byte> out) {
    if (random_ || blob_.is_kept()) return blob_.read(offset, out);
    // Opening again pays if it skips more than it decodes again.
    const bool far = step_ != 0 && offset > at_ && offset / step_ > ceil_div(at_, step_);
    if (reader_ == nullptr || offset < at_ || far) {
      reader_ = blob_.open(offset);
      at_ = offset;
    }
    scratch_.resize(static_cast<std::size_t>(std::min(kSpan, offset - at_)));
    for (; at_ < offset; at_ += std::min<std::uint64_t>(offset - at_, scratch_.size()))
      reader_->read(
          std::span(scratch_).first(static_cast<std::size_t>(std::min<std::uint64_t>(offset - at_, scratch_.size()))));
    reader_->read(out);
    at_ += out.size();
  }

 private:
  Blob blob_;
  std::uint64_t step_;
  bool random_;
  std::unique_ptr<BlobReader> reader_;
  std::uint64_t at_ = 0;
  Bytes scratch_;
};

// Collects neighbouring runs and reads them together.
class Collector {
 public:
  explicit Collector(const Blob& blob) : fetcher_(blob), gap_(blob.is_plain() ? kGap : kDecodedGap) {}

  // Runs must come in ascending order of their low ends and must not overlap.
  void add(const Run& run) {
    if (run.count == 1) return add_piece(run);
    // With wide gaps or long runs, read each run separately; otherwise as many at a time as a span holds.
    const bool separate = run.length >= kSpan || run.step() - run.length > gap_;
    const std::uint64_t most = separate ? 1 : (kSpan - run.length) / run.step() + 1;
    for (std::uint64_t done = 0; done < run.count; done += std::min(most, run.count - done)) {
      const std::uint64_t n = std::min(most, run.count - done);
      add_piece(run.part(run.stride < 0 ? run.count - done - n : done, n));
    }
  }

  void flush() {
    if (group_.size() == 1 && group_.front().count == 1) {
      const Run& run = group_.front();
      fetcher_.read(run.from, {run.to, static_cast<std::size_t>(run.length)});
    } else if (!group_.empty()) {
      scratch_.resize(high_ - low_);
      fetcher_.read(low_, scratch_);
      for (const Run& run : group_) gather(run, scratch_.data(), low_);
    }
    group_.clear();
  }

 private:
  void add_piece(const Run& run) {
    const std::uint64_t low = run.low(), high = run.high();
    if (!group_.empty() && (low - high_ > gap_ || high - low_ > kSpan)) flush();
    if (group_.empty()) low_ = low;
    high_ = high;
    group_.push_back(run);
  }

  Fetcher fetcher_;
  std::uint64_t gap_;
  std::vector<Run> group_;
  std::uint64_t low_ = 0, high_ = 0;
  Bytes scratch_;
};

}  // namespace tare::slicing
