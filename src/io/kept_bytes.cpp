#include "io/kept_bytes.hpp"

#include <algorithm>
#include <utility>

#include "base/forever.hpp"
#include "base/process_mutex.hpp"
#include "io/scratch.hpp"
#include "tare/blob.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

constexpr std::size_t kMostKept = 64;
constexpr std::uint64_t kKeptInMemory = std::uint64_t{512} << 10;

ProcessMutex kept_mutex(LockOrder::table);
Forever<std::list<KeptBytes*>> kept_in_order;  // the one that was used last is first

// Null if there is no room. An error in the bytes is thrown.
SourcePtr decode_all(const BlobProducer& producer, std::uint64_t size) {
  if (size > kKeptInMemory && !has_scratch_room(size)) return nullptr;
  std::unique_ptr<Scratch> scratch;
  const auto reader = producer.open(0);
  Bytes chunk(static_cast<std::size_t>(std::min<std::uint64_t>(size, std::uint64_t{1} << 20)));
  try {
    scratch = make_scratch(size, kKeptInMemory);
  } catch (const Error&) {
    return nullptr;
  }
  for (std::uint64_t at = 0; at < size; at += chunk.size()) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), size - at)));
    reader->read(chunk);
    try {
      scratch->write(at, chunk);
    } catch (const Error&) {
      return nullptr;
    }
  }
  return scratch->source();
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
  SourcePtr oldest;  // destroyed after the lock is released
  const std::scoped_lock lock(kept_mutex);
  auto& all = *kept_in_order;
  if (all.size() == kMostKept) {
    oldest = std::move(all.back()->source_);
    all.back()->source_ = nullptr;
    all.pop_back();
  }
  all.push_front(this);
  place_ = all.begin();
  source_ = std::move(source);
}

void KeptBytes::drop() {
  SourcePtr mine;
  const std::scoped_lock lock(kept_mutex);
  if (source_ == nullptr) return;
  (*kept_in_order).erase(place_);
  mine = std::move(source_);
}

}  // namespace tare::io
