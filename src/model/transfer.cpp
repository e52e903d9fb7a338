#include "model/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "base/stopping.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr std::uint64_t kChunk = std::uint64_t{1} << 20;
// Produced blobs are split into pieces of at least this size for many threads.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;

// Calls `visit` with [begin, end) of a blob in chunks of at most 1 MiB. The callers compare the digest of plain bytes
// themselves (expect_arrived), so it is not computed here as well.
template <typename Visit>
void for_each_chunk(const Blob& blob, std::uint64_t begin, std::uint64_t end, const Visit& visit) {
  Bytes buffer(static_cast<std::size_t>(std::min(kChunk, end - begin)));
  const auto reader = blob.unchecked().open(begin);
  for (std::uint64_t at = begin; at < end;) {
    const auto part =
        std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - at)));
    check_stop();
    reader->read(part);
    visit(at, part);
    at += part.size();
  }
}

// `wanted`, or none if `computed` is the same.
DigestAlgorithm other_algorithm(DigestAlgorithm wanted, DigestAlgorithm computed) {
  return wanted == computed ? DigestAlgorithm::none : wanted;
}

}  // namespace

Transfer::Transfer(Sink& sink, const TransferOptions& options) : sink_(sink), options_(options) {}
Transfer::~Transfer() = default;

DigestAlgorithm Transfer::algorithm_for(const Blob& blob) const {
  if (options_.digest) return *options_.digest;
  const DigestAlgorithm own = blob.digest().algorithm();
  return own == DigestAlgorithm::unknown ? DigestAlgorithm::none : own;
}

DigestAlgorithm arrived_algorithm(const Blob& blob) {
  const DigestAlgorithm own = blob.digest().algorithm();
  return blob.is_plain() && own != DigestAlgorithm::unknown ? own : DigestAlgorithm::none;
}

void expect_arrived(const Blob& blob, const Digest& computed) {
  if (blob.digest().algorithm() == computed.algorithm() && blob.digest() != computed)
    throw Error(ErrorKind::corrupt, "digest.mismatch",
                fmt::format("the {} stored bytes do not match their digest: expected {}, found {}", blob.size(),
                            blob.digest().text(), computed.text()))
        .in(blob.source() == nullptr ? std::string() : blob.source()->name())
        .at(blob.offset());
}

bool Transfer::is_copy(const Job& job) {
  return job.digest == DigestAlgorithm::none && job.blob.is_plain() &&
         arrived_algorithm(job.blob) == DigestAlgorithm::none;
}

// The computed digest must equal the one that the same bytes came with: corrupt input is not passed on.
void Transfer::settle_digest(const Blob& blob, std::size_t number, const Digest& computed) {
  StoredBlob& stored = stored_[number];
  stored.digest = computed;
  const bool same_bytes = stored.encoding == Encoding::raw && blob.encoding() == Encoding::raw;
  if (!same_bytes || !blob.digest()) return;
  expect_arrived(blob, computed);
  // A digest that Tare cannot compute remains valid for unchanged bytes.
  if (!options_.digest && blob.digest().algorithm() == DigestAlgorithm::unknown) stored.digest = blob.digest();
}

std::size_t Transfer::add(const Blob& blob) {
  // What the bytes are a part of does not pass through here, so it is compared before they are passed on.
  if (blob.guard() != nullptr) blob.guard()->verify();
  const std::size_t number = stored_.size();
  stored_.push_back({0, blob.size(), blob.size(), Encoding::raw, {}});
  if (options_.zstd_level)
    compressed_.push_back({blob, number});
  else
    add_raw(blob, number);
  return number;
}

// Wide gaps are skipped, which costs the sink nothing.
void Transfer::align() {
  constexpr std::uint64_t kWide = 4096;
  if (options_.alignment < kWide || !sink_.positional()) return sink_.align(options_.alignment);
  if (const std::uint64_t over = sink_.position() % options_.alignment; over != 0)
    sink_.skip(options_.alignment - over);
}

void Transfer::add_raw(const Blob& blob, std::size_t number) {
  align();
  stored_[number].offset = sink_.position();
  if (!sink_.positional()) return stream(blob, number, options_.progress);
  sink_.skip(blob.size());
  if (options_.running) return add_running(blob, number);
  const DigestAlgorithm digest = algorithm_for(blob);
  // No job for an empty blob: a small file can have millions of them.
  if (blob.size() == 0 && digest == DigestAlgorithm::none && blob.is_plain()) return;
  if (const std::size_t pieces = blob.pieces(); pieces != 0 && digest == DigestAlgorithm::none) {
    for (std::size_t i = 0; i < pieces; ++i) jobs_.push_back({blob, number, 0, 0, DigestAlgorithm::none, i});
    return;
  }
  const std::uint64_t step = blob.seek_granularity();
  // A digest needs the bytes in order, and so does a blob that cannot be opened in the middle. Plain copies gain
  // nothing from pieces: the kernel allows one writer at a time.
  if (digest != DigestAlgorithm::none || blob.is_plain() || step == 0 || blob.size() <= kPiece) {
    jobs_.push_back({blob, number, 0, blob.size(), digest});
    return;
  }
  const std::uint64_t piece = ceil_div(kPiece, step) * step;
  for (std::uint64_t at = 0; at < blob.size(); at += std::min(piece, blob.size() - at))
    jobs_.push_back({blob, number, at, at + std::min(piece, blob.size() - at), DigestAlgorithm::none});
}

void Transfer::advance(std::uint64_t bytes) const {
  if (options_.progress != nullptr) options_.progress->advance(bytes);
}

void Transfer::stream(const Blob& blob, std::size_t number, Progress* progress) {
  Hasher hasher(algorithm_for(blob)), arrived(other_algorithm(arrived_algorithm(blob), algorithm_for(blob)));
  for_each_chunk(blob, 0, blob.size(), [&](std::uint64_t, std::span<const std::byte> bytes) {
    hasher.update(bytes);
    arrived.update(bytes);
    sink_.write(bytes);
    if (progress != nullptr) progress->advance(bytes.size());
  });
  expect_arrived(blob, arrived.finish());
  settle_digest(blob, number, hasher.finish());
}

void Transfer::run(const Job& job) {
  const std::uint64_t base = stored_[job.number].offset;
  if (is_copy(job)) {
    for (std::uint64_t at = job.begin; at < job.end; at += std::min(16 * kChunk, job.end - at)) {
      const std::uint64_t part = std::min(16 * kChunk, job.end - at);
      check_stop();
      sink_.copy_at(base + at, *job.blob.source(), job.blob.offset() + at, part);
      advance(part);
    }
    return settle_digest(job.blob, job.number, {});
  }
  if (job.piece) {
    return job.blob.make_piece(*job.piece, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
      sink_.write_at(base + offset, bytes);
      advance(bytes.size());
    });
  }
  Hasher hasher(job.digest), arrived(other_algorithm(arrived_algorithm(job.blob), job.digest));
  for_each_chunk(job.blob, job.begin, job.end, [&](std::uint64_t at, std::span<const std::byte> bytes) {
    hasher.update(bytes);
    arrived.update(bytes);
    sink_.write_at(base + at, bytes);
    advance(bytes.size());
  });
  if (job.begin != 0 || job.end != job.blob.size()) return;
  expect_arrived(job.blob, arrived.finish());
  settle_digest(job.blob, job.number, hasher.finish());
}

void Transfer::finish() {
  if (options_.running) return finish_running();
  if (options_.zstd_level) compress_all();
  // A file accepts one writer at a time, so plain copies run one after the other, in parallel with the rest.
  std::vector<const Job*> copies, others;
  for (const Job& job : jobs_) (is_copy(job) ? copies : others).push_back(&job);
  const std::size_t first = copies.empty() ? 0 : 1;
  parallel_for(first + others.size(), options_.threads, [&](std::size_t i) {
    if (i >= first) return run(*others[i - first]);
    for (const Job* copy : copies) run(*copy);
  });
  jobs_.clear();
}

}  // namespace tare
