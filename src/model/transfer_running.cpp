// Transfer with a digest of all bytes in the order of addition: many threads produce and write pieces, and one thread
// at a time hashes the next piece. Hashing is several times faster than producing, so it is not a bottleneck.
#include <algorithm>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "model/transfer.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kRead = std::uint64_t{1} << 20;
// The most bytes of a blob that a thread holds. A blob with a larger seek granularity (a sparse tensor with long rows)
// is read in order, like one that is not seekable.
constexpr std::uint64_t kMostHeld = std::uint64_t{8} << 20;

// Pieces of the blob may begin at multiples of this; 0: only at its start.
std::uint64_t step_of(const Blob& blob) {
  if (blob.is_plain()) return 1;
  const std::uint64_t step = blob.seek_granularity();
  return step > kMostHeld ? 0 : step;
}

}  // namespace

void Transfer::add_running(const Blob& blob, std::size_t number) {
  // The bytes came with a digest of another algorithm than the one computed below.
  if (arrived_algorithm(blob) != DigestAlgorithm::none && arrived_algorithm(blob) != algorithm_for(blob)) blob.verify();
  if (blob.size() == 0) return settle_digest(blob, number, Hasher(algorithm_for(blob)).finish());
  const std::uint64_t step = step_of(blob);
  // A blob that is not seekable is read by the thread that hashes it.
  const std::uint64_t piece = step == 0 ? blob.size() : ceil_div(kRead, step) * step;
  for (std::uint64_t at = 0; at < blob.size(); at += std::min(piece, blob.size() - at))
    jobs_.push_back({blob, number, at, at + std::min(piece, blob.size() - at), algorithm_for(blob)});
}

void Transfer::finish_running() {
  const unsigned threads = thread_count(options_.threads);
  const std::size_t window = std::size_t{2} * threads + 1;
  std::vector<Bytes> slots(window);
  Hasher all(*options_.running), own(DigestAlgorithm::none);
  const auto is_sequential = [](const Job& job) { return step_of(job.blob) == 0; };
  const auto view_of = [](const Job& job) -> std::optional<std::span<const std::byte>> {
    if (!job.blob.is_plain() || job.blob.source() == nullptr) return std::nullopt;
    return job.blob.source()->view(job.blob.offset() + job.begin, job.end - job.begin);
  };
  const auto make = [&](std::size_t i, std::size_t slot) {
    const Job& job = jobs_[i];
    if (is_sequential(job)) return;
    const std::uint64_t to = stored_[job.number].offset + job.begin, count = job.end - job.begin;
    if (view_of(job)) {
      sink_.copy_at(to, *job.blob.source(), job.blob.offset() + job.begin, count);
    } else {
      slots[slot].resize(static_cast<std::size_t>(count));
      job.blob.unchecked().open(job.begin)->read(slots[slot]);
      sink_.write_at(to, slots[slot]);
    }
    advance(count);
  };
  const auto hash = [&](std::span<const std::byte> bytes) {
    all.update(bytes);
    own.update(bytes);
  };
  const auto take = [&](std::size_t i, std::size_t slot) {
    const Job& job = jobs_[i];
    if (job.begin == 0) own = Hasher(job.digest);
    if (is_sequential(job)) {
      const auto reader = job.blob.open();
      Bytes& buffer = slots[slot];
      for (std::uint64_t at = 0; at < job.end; at += buffer.size()) {
        buffer.resize(static_cast<std::size_t>(std::min(kRead, job.end - at)));
        reader->read(buffer);
        sink_.write_at(stored_[job.number].offset + at, buffer);
        hash(buffer);
        advance(buffer.size());
      }
    } else if (const auto view = view_of(job)) {
      hash(*view);
      job.blob.source()->check();
    } else {
      hash(slots[slot]);
    }
    if (job.end == job.blob.size()) settle_digest(job.blob, job.number, own.finish());
  };
  parallel_in_order(jobs_.size(), threads, window, make, take);
  jobs_.clear();
  running_ = all.finish();
}

}  // namespace tare
