#include "codecs/buckets.hpp"

#include <algorithm>
#include <numeric>

#include "tare/error.hpp"

namespace tare {
namespace {

// Bytes that all buckets together buffer before writing, so that writes are long.
constexpr std::size_t kWaiting = std::size_t{16} << 20;
constexpr std::size_t kMostWaiting = std::size_t{64} << 10;  // per bucket

[[noreturn]] void changed() {
  throw Error(ErrorKind::corrupt, "codec.changed", "the file was written to while it was read: two reads of it differ");
}

}  // namespace

Buckets::Buckets(std::vector<std::uint64_t> counts, std::size_t width)
    : width_(width), begins_(counts.size() + 1), done_(counts.size()), waiting_(counts.size()) {
  std::partial_sum(counts.begin(), counts.end(), begins_.begin() + 1);
  held_ = std::max<std::size_t>(1, std::min(kWaiting / std::max<std::size_t>(1, counts.size()), kMostWaiting) / width);
  scratch_ = io::make_scratch(begins_.back() * width);
}

void Buckets::put(std::size_t bucket, std::span<const std::byte> records) {
  Bytes& waiting = waiting_[bucket];
  if (done_[bucket] + (waiting.size() + records.size()) / width_ > count(bucket)) changed();
  waiting.insert(waiting.end(), records.begin(), records.end());
  if (waiting.size() >= held_ * width_) flush(bucket);
}

void Buckets::flush(std::size_t bucket) {
  Bytes& waiting = waiting_[bucket];
  scratch_->write((begins_[bucket] + done_[bucket]) * width_, waiting);
  done_[bucket] += waiting.size() / width_;
  waiting.clear();
}

void Buckets::seal() {
  for (std::size_t bucket = 0; bucket < waiting_.size(); ++bucket) {
    flush(bucket);
    if (done_[bucket] != count(bucket)) changed();
  }
  waiting_ = {};
  source_ = scratch_->source();
}

Blob Buckets::records(std::size_t bucket) const {
  return Blob::range(source_, begins_[bucket] * width_, count(bucket) * width_);
}

}  // namespace tare
