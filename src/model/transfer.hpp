// Moves blobs into a sink on all cores, in bounded memory: what every writer uses for tensor data.
//
// Blobs are laid out in the order they are added. Into a positional sink, bytes whose place is known are written by
// many threads when `finish` runs; into a pipe everything is written as it is added. The bytes are the same.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tare/blob.hpp"
#include "tare/progress.hpp"
#include "tare/sink.hpp"

namespace tare {

// How and where a blob came to lie.
struct StoredBlob {
  std::uint64_t offset = 0, stored = 0, size = 0;
  Encoding encoding = Encoding::raw;
  Digest digest;
};

// The algorithm of the digest that plain bytes came with; none where there is none that can be computed. Packed bytes
// look after themselves.
DigestAlgorithm arrived_algorithm(const Blob& blob);
// Throws `digest.mismatch` when the blob came with another digest of this algorithm.
void expect_arrived(const Blob& blob, const Digest& computed);

struct TransferOptions {
  std::uint64_t alignment = 64;
  std::optional<int> zstd_level;  // compress what shrinks; nothing: raw
  // Compress into frames of 1 MiB with checksums and a table of them (Encoding::zstd_seekable); digests are of decoded bytes.
  bool seekable = false;
  std::optional<DigestAlgorithm> digest;  // nothing: each blob's own algorithm, recomputed
  // One digest of all bytes in the order they were added. For positional sinks, without compression.
  std::optional<DigestAlgorithm> running = std::nullopt;
  unsigned threads = 0;
  Progress* progress = nullptr;
};

class Transfer {
 public:
  Transfer(Sink& sink, const TransferOptions& options);
  ~Transfer();

  // Takes the blob as the next one in the sink, on the next multiple of the alignment. Returns its number for
  // `stored`.
  std::size_t add(const Blob& blob);
  // Writes what is still to be written. Afterwards every `stored` is complete, digests included.
  void finish();
  // The digest of everything, after `finish`.
  const Digest& running() const { return running_; }
  const StoredBlob& stored(std::size_t number) const { return stored_[number]; }

 private:
  // Part of a blob whose place is known.
  struct Job {
    Blob blob;
    std::size_t number;
    std::uint64_t begin, end;                         // decoded bytes of the blob
    DigestAlgorithm digest;                           // set only on jobs that cover a whole blob
    std::optional<std::size_t> piece = std::nullopt;  // one of the producer's own pieces instead of [begin, end)
  };
  // A blob waiting to be compressed.
  struct Packed {
    Blob blob;
    std::size_t number;
  };

  DigestAlgorithm algorithm_for(const Blob& blob) const;
  static bool is_copy(const Job& job);
  void add_raw(const Blob& blob, std::size_t number);
  void align();
  // Counts what it writes in `progress`, unless that is null.
  void stream(const Blob& blob, std::size_t number, Progress* progress);
  void advance(std::uint64_t bytes) const;
  void add_running(const Blob& blob, std::size_t number);
  void finish_running();
  void run(const Job& job);
  void pack_all();
  void settle_digest(const Blob& blob, std::size_t number, const Digest& computed);

  Sink& sink_;
  TransferOptions options_;
  std::vector<StoredBlob> stored_;
  std::deque<Job> jobs_;  // hundreds of thousands at worst: no vector that moves them as it grows
  std::vector<Packed> packed_;
  Digest running_;
};

}  // namespace tare
