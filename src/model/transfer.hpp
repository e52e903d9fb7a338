// Writes blobs to a sink on all cores, in bounded memory: every writer uses it for tensor data.
//
// Blobs are stored in the order in which they are added. In a positional sink, `finish` writes the bytes whose offset
// is known with many threads; to a pipe everything is written as it is added. The bytes are the same.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "tare/blob.hpp"
#include "tare/progress.hpp"
#include "tare/sink.hpp"

namespace tare {

// Where and how a blob was stored.
struct StoredBlob {
  std::uint64_t offset = 0, stored = 0, size = 0;
  Encoding encoding = Encoding::raw;
  Digest digest;
};

// The algorithm of the digest that plain bytes came with; none if there is none or it cannot be computed. Compressed
// bytes are verified by their decoder.
DigestAlgorithm arrived_algorithm(const Blob& blob);
// Throws `digest.mismatch` if the blob came with another digest of this algorithm.
void expect_arrived(const Blob& blob, const Digest& computed);

struct TransferOptions {
  std::uint64_t alignment = 64;
  std::optional<int> zstd_level;  // compress what becomes smaller; nothing: raw
  // Compress into frames of 1 MiB with checksums and a table (Encoding::zstd_seekable); digests are of the decoded
  // bytes.
  bool seekable = false;
  std::optional<DigestAlgorithm> digest;  // nothing: each blob's own algorithm, computed again
  // One digest of all bytes in the order of addition. For positional sinks, without compression.
  std::optional<DigestAlgorithm> running = std::nullopt;
  unsigned threads = 0;
  Progress* progress = nullptr;
};

class Transfer {
 public:
  Transfer(Sink& sink, const TransferOptions& options);
  ~Transfer();

  // Adds the blob at the next multiple of the alignment. Returns its number for `stored`.
  std::size_t add(const Blob& blob);
  // Writes the rest. Afterwards every `stored` is complete, including digests.
  void finish();
  // The digest of everything, after `finish`.
  const Digest& running() const { return running_; }
  const StoredBlob& stored(std::size_t number) const { return stored_[number]; }

 private:
  // Part of a blob whose offset in the sink is known.
  struct Job {
    Blob blob;
    std::size_t number;
    std::uint64_t begin, end;                         // decoded bytes of the blob
    DigestAlgorithm digest;                           // set only on jobs that cover a whole blob
    std::optional<std::size_t> piece = std::nullopt;  // a piece of the producer instead of [begin, end)
  };
  // A blob waiting to be compressed.
  struct Compressed {
    Blob blob;
    std::size_t number;
  };

  DigestAlgorithm algorithm_for(const Blob& blob) const;
  static bool is_copy(const Job& job);
  void add_raw(const Blob& blob, std::size_t number);
  void align();
  // Counts the bytes it writes in `progress`, unless that is null.
  void stream(const Blob& blob, std::size_t number, Progress* progress);
  void advance(std::uint64_t bytes) const;
  void add_running(const Blob& blob, std::size_t number);
  void finish_running();
  void run(const Job& job);
  void compress_all();
  void settle_digest(const Blob& blob, std::size_t number, const Digest& computed);

  Sink& sink_;
  TransferOptions options_;
  std::vector<StoredBlob> stored_;
  std::deque<Job> jobs_;  // a deque, because hundreds of thousands would be moved as a vector grows
  std::vector<Compressed> compressed_;
  Digest running_;
};

}  // namespace tare
