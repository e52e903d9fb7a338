// A component's bytes, not yet read: a range of a Source, or bytes that are produced in chunks when somebody pulls
// (decompressed, cast, decoded). Copying a Blob copies a reference.
//
// A digest that is stored with the bytes is compared before they are given away: `open`, `view`, and a `read` of all of them
// throw `digest.mismatch`. The bytes are hashed once, whoever asks first. A `read` of a part looks at no more than that part, and
// is not compared; `unchecked` gives all of it without.
//
// Immutable; may be read from many threads, each with its own reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "tare/digest.hpp"
#include "tare/export.hpp"
#include "tare/source.hpp"

namespace tare {

// `zstd_seekable`: zstd frames of one size with a table of them, for reading at any offset. Digests of the others are of
// the stored bytes, that of this one is of the decoded bytes.
enum class Encoding : std::uint8_t { raw, zstd, deflate, zstd_seekable };
[[nodiscard]] TARE_API std::string_view name_of(Encoding encoding);

// Pulls a blob's decoded bytes in order, in bounded memory.
class TARE_API BlobReader {
 public:
  virtual ~BlobReader() = default;
  // Fills `out` with the next bytes; throws if fewer remain or the stored bytes are bad.
  virtual void read(std::span<std::byte> out) = 0;
};

// Takes a run of a blob's decoded bytes; runs come in any order.
using PutRun = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

// Makes bytes on demand.
class TARE_API BlobProducer {
 public:
  virtual ~BlobProducer() = default;
  // A reader whose first byte is decoded byte `offset`. Must work from many threads.
  [[nodiscard]] virtual std::unique_ptr<BlobReader> open(std::uint64_t offset) const = 0;
  // Offsets at which `open` costs no more than at 0: multiples of this. 0: only from the beginning.
  virtual std::uint64_t seek_granularity() const { return 0; }
  // How often it looks at a byte, about: what is put into another order is written down and read again.
  virtual unsigned looks() const { return 1; }
  // Pieces of work, independent of each other, that together make every byte once, for targets which take bytes in any
  // order. So a blob whose regions come from the same input (scales first, codes later) costs one pass over it instead
  // of one for each region. 0: there is only `open`.
  virtual std::size_t pieces() const { return 0; }
  // Makes one piece in bounded memory. From many threads, each with its own piece.
  virtual void make_piece(std::size_t piece, const PutRun& put) const;
  // Attributes of the tensor that only its data can tell. Free once every byte has been made, by `open` or in pieces;
  // before that it costs a pass over the input.
  virtual Map learned() const { return {}; }
  // Checks the stored bytes as a whole (their digest, their framing); called by `Blob::verify`. Who makes bytes of other
  // blobs verifies those; who makes them of nothing has nothing to do, and says so.
  virtual void verify() const = 0;
};

// A checksum of more bytes than those of a blob: it covers a member of an archive, and the blob is a part of it. `verify` throws
// what is wrong with the whole. Any number of threads call it, and the whole is read once.
class TARE_API BlobGuard {
 public:
  virtual ~BlobGuard() = default;
  virtual void verify() const = 0;
};

class TARE_API Blob {
 public:
  Blob() = default;
  // `length` bytes of `source` at `offset`, as they are. Throws `blob.bounds` unless the range lies inside the source.
  [[nodiscard]] static Blob range(SourcePtr source, std::uint64_t offset, std::uint64_t length, Digest digest = {});
  // A range of `source` that holds zstd frames which decode to exactly `size` bytes. The digest covers the stored
  // bytes.
  [[nodiscard]] static Blob zstd(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                                 Digest digest = {});
  // Bytes kept in another encoding at a range of `source`, decoded by `producer`, which must not be null.
  [[nodiscard]] static Blob encoded(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                                    Encoding encoding, std::shared_ptr<const BlobProducer> producer,
                                    Digest digest = {});
  // `size` bytes that exist nowhere yet.
  [[nodiscard]] static Blob produced(std::uint64_t size, std::shared_ptr<const BlobProducer> producer);
  [[nodiscard]] static Blob memory(Bytes bytes);

  // Decoded bytes.
  std::uint64_t size() const { return size_; }
  // Bytes on disk; equal to size() for raw and for produced blobs.
  std::uint64_t stored_size() const { return stored_; }
  Encoding encoding() const { return encoding_; }
  // The digest stored with the bytes; false when there is none.
  const Digest& digest() const { return digest_; }
  // The same bytes, compared with a checksum of what they are a part of, too. For plain blobs; others have a producer for it.
  [[nodiscard]] Blob guarded(std::shared_ptr<const BlobGuard> guard) const;
  // What compares it; null when there is none.
  const std::shared_ptr<const BlobGuard>& guard() const { return guard_; }
  // Where the stored bytes are; null for produced blobs.
  const SourcePtr& source() const { return source_; }
  std::uint64_t offset() const { return offset_; }
  // Raw bytes of a source, i.e. what a mapping can show and the kernel can copy.
  bool is_plain() const { return producer_ == nullptr; }
  // Whether chunks starting at multiples of `seek_granularity` can be pulled independently (in parallel).
  std::uint64_t seek_granularity() const;
  unsigned looks() const { return producer_ == nullptr ? 1 : producer_->looks(); }
  // What the producer says; 0 and nothing for plain blobs.
  std::size_t pieces() const { return producer_ == nullptr ? 0 : producer_->pieces(); }
  // Throws `blob.pieces` when there is no such piece.
  void make_piece(std::size_t piece, const PutRun& put) const;
  Map learned() const { return producer_ == nullptr ? Map() : producer_->learned(); }

  // All bytes without a copy, or nothing when they must be read. Valid while a copy of this blob lives. They may change
  // at any moment: see `Source::view`. Hashes them first if there is a digest.
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const;
  // Fills `out` from decoded byte `offset`. Raw: touches only those bytes. Others: decodes what it must.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::unique_ptr<BlobReader> open(std::uint64_t offset = 0) const;
  // Everything, in memory, made on up to `threads` threads (0: all cores). Throws Error limit `blob.too_large` above
  // `limit`.
  [[nodiscard]] Bytes bytes(std::uint64_t limit = std::uint64_t{32} << 30, unsigned threads = 0) const;
  // The same into the caller's memory, which has exactly size() bytes.
  void read_all(std::span<std::byte> out, unsigned threads = 0) const;

  // Compares the stored bytes with their digest (if there is one of a known algorithm) and throws `digest.mismatch`, and with
  // their guard.
  // Of produced bytes those that they are made of. Hashes each range of a source once.
  void verify() const;
  // The same bytes without their digest and guard, for whoever compares it in another way or wants to look at damaged bytes. Compressed
  // bytes are compared all the same.
  [[nodiscard]] Blob unchecked() const;

 private:
  SourcePtr source_;
  std::shared_ptr<const BlobProducer> producer_;
  std::shared_ptr<const BlobGuard> guard_;
  std::uint64_t offset_ = 0, stored_ = 0, size_ = 0;
  Encoding encoding_ = Encoding::raw;
  Digest digest_;
};

}  // namespace tare
