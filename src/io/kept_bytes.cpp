#include "io/kept_bytes.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/forever.hpp"
#include "base/process_mutex.hpp"
#include "io/scratch.hpp"
#include "tare/blob.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

constexpr std::size_t kAlwaysKept = 64;
constexpr std::uint64_t kMostKept = std::uint64_t{512} << 20;  // bytes, if there are more blobs
// What is kept in memory: small blobs, as long as all together are not large.
constexpr std::uint64_t kSmall = std::uint64_t{64} << 10, kMostInMemory = std::uint64_t{32} << 20;

ProcessMutex kept_mutex(LockOrder::table);
Forever<std::list<KeptBytes*>> kept_in_order;  // the one that was used last is first
std::uint64_t kept_bytes = 0;
Forever<SharedScratch> shared_scratch;

// A share of kMostInMemory.
class Share {
 public:
  Share() = default;
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { taken_ -= bytes_; }
  // Returns false if it is not to be had.
  bool take(std::uint64_t bytes) {
    const std::uint64_t before = taken_.fetch_add(bytes);
    bytes_ = bytes;
    return before + bytes <= kMostInMemory;
  }

 private:
  static inline std::atomic<std::uint64_t> taken_{0};
  std::uint64_t bytes_ = 0;
};

struct Decoded {
  Share share;
  SourcePtr source;
};

std::unique_ptr<Scratch> space_for(std::uint64_t size, bool in_memory) {
  try {
    if (in_memory) return make_scratch(size, size);
    if (!has_scratch_room(size)) return nullptr;
    const std::scoped_lock lock(kept_mutex);
    return (*shared_scratch).make(size);
  } catch (const Error&) {
    return nullptr;
  }
}

// Null if there is no room. An error in the bytes is thrown.
SourcePtr decode_all(const BlobProducer& producer, std::uint64_t size) {
  auto decoded = std::make_shared<Decoded>();
  bool in_memory = size <= kSmall;
  if (in_memory && !decoded->share.take(size)) {
    decoded = std::make_shared<Decoded>();
    in_memory = false;
  }
  const auto scratch = space_for(size, in_memory);
  if (scratch == nullptr) return nullptr;
  const auto reader = producer.open(0);
  Bytes chunk(static_cast<std::size_t>(std::min<std::uint64_t>(size, std::uint64_t{1} << 20)));
  for (std::uint64_t at = 0; at < size; at += chunk.size()) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), size - at)));
    reader->read(chunk);
    try {
      scratch->write(at, chunk);
    } catch (const Error&) {
      return nullptr;
    }
  }
  decoded->source = scratch->source();
  const Source* const source = decoded->source.get();
  return {std::move(decoded), source};  // gives the share back with the source
}

}  // namespace

SourcePtr KeptBytes::get() {
  const std::scoped_lock lock(kept_mutex);
  if (source_ != nullptr) (*kept_in_order).splice((*kept_in_order).begin(), *kept_in_order, place_);
  return source_;
}

SourcePtr KeptBytes::before_open(const BlobProducer& producer, std::uint64_t size, std::uint64_t offset) {
  if (SourcePtr kept = get()) return kept;
  const std::uint64_t step = producer.seek_granularity();
  const std::uint64_t skipped = step == 0 ? offset : offset % step;
  if (skipped == 0 || skipped_.fetch_add(skipped) + skipped <= size) return nullptr;
  const std::scoped_lock lock(making_);
  if (SourcePtr kept = get()) return kept;  // another thread has done it
  skipped_.store(0);
  SourcePtr source = decode_all(producer, size);
  if (source != nullptr) keep(source);
  return source;
}

void KeptBytes::keep(SourcePtr source) {
  std::vector<SourcePtr> oldest;  // destroyed after the lock is released
  const std::scoped_lock lock(kept_mutex);
  auto& all = *kept_in_order;
  kept_bytes += source->size();
  while (all.size() >= kAlwaysKept && kept_bytes > kMostKept) oldest.push_back(all.back()->take_out());
  all.push_front(this);
  place_ = all.begin();
  source_ = std::move(source);
}

SourcePtr KeptBytes::take_out() {
  (*kept_in_order).erase(place_);
  kept_bytes -= source_->size();
  return std::exchange(source_, nullptr);
}

void KeptBytes::drop() {
  SourcePtr mine;
  const std::scoped_lock lock(kept_mutex);
  if (source_ != nullptr) mine = take_out();
}

}  // namespace tare::io
