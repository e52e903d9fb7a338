// A component's bytes, not yet read: a range of a Source, or bytes that are produced in chunks on demand (decompressed,
// cast, decoded). Copying a Blob copies a reference.
//
// A digest that is stored with the bytes is compared before they are handed out: `open`, `view` and a `read` of all
// bytes throw `digest.mismatch`. The bytes are hashed only once. A `read` of a part reads only that part and does not
// compare the digest; `unchecked` gives access to all bytes without the comparison.
//
// Immutable. Many threads may read a Blob, each with its own reader.
#pragma once

#include <atomic>
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

// `zstd_seekable`: zstd frames of equal decoded size with a table of them, for reading at any offset. Its digest is of
// the decoded bytes; the digests of the other encodings are of the stored bytes.
enum class Encoding : std::uint8_t { raw, zstd, deflate, zstd_seekable };
[[nodiscard]] TARE_API std::string_view name_of(Encoding encoding);

// Reads a blob's decoded bytes in order, in bounded memory.
class TARE_API BlobReader {
 public:
  virtual ~BlobReader() = default;
  // Fills `out` with the next bytes; throws if fewer remain or the stored bytes are bad.
  virtual void read(std::span<std::byte> out) = 0;
};

// Receives a run of a blob's decoded bytes; runs come in any order.
using PutRun = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

namespace io {
class KeptBytes;
}

// Produces bytes on demand.
class TARE_API BlobProducer {
 public:
  BlobProducer() = default;
  BlobProducer(const BlobProducer&) = delete;
  BlobProducer& operator=(const BlobProducer&) = delete;
  virtual ~BlobProducer();
  // Returns a reader whose first byte is decoded byte `offset`. Must be callable from many threads.
  [[nodiscard]] virtual std::unique_ptr<BlobReader> open(std::uint64_t offset) const = 0;
  // `open` at a multiple of this costs no more than at 0. 0: `open` is cheap only at the beginning.
  virtual std::uint64_t seek_granularity() const { return 0; }
  // How many times decoding touches each byte, roughly; 2 if the bytes are first written in another order. The limit on
  // expansion counts it.
  virtual unsigned looks() const { return 1; }
  // The number of independent pieces that together produce every byte once, for sinks that accept bytes in any order. A
  // blob whose regions come from the same input (scales first, codes later) then costs one pass over that input instead
  // of one per region. 0: only `open` works.
  virtual std::size_t pieces() const { return 0; }
  // Produces one piece in bounded memory. Many threads may call it, each for a different piece.
  virtual void make_piece(std::size_t piece, const PutRun& put) const;
  // Attributes of the tensor that depend on its data. Free once every byte has been produced, by `open` or in pieces;
  // before that it costs a pass over the input.
  virtual Map learned() const { return {}; }
  // Checks the stored bytes as a whole (their digest, their framing); `Blob::verify` calls it. A producer that reads
  // other blobs verifies those. One that reads nothing defines an empty function.
  virtual void verify() const = 0;

 private:
  friend class Blob;
  io::KeptBytes& kept() const;
  mutable std::atomic<io::KeptBytes*> kept_{nullptr};
};

// A checksum of more bytes than those of a blob, such as that of an archive member of which the blob is a part.
// `verify` throws if the whole is damaged. Many threads may call it; the whole is read once.
class TARE_API BlobGuard {
 public:
  virtual ~BlobGuard() = default;
  virtual void verify() const = 0;
};

class TARE_API Blob {
 public:
  Blob() = default;
  // The raw bytes [offset, offset + length) of `source`. Throws `blob.bounds` unless the range is inside the source.
  [[nodiscard]] static Blob range(SourcePtr source, std::uint64_t offset, std::uint64_t length, Digest digest = {});
  // Zstd frames in a range of `source`, which decode to exactly `size` bytes. The digest covers the stored bytes.
  [[nodiscard]] static Blob zstd(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                                 Digest digest = {});
  // A range of `source` in another encoding, decoded by `producer`, which must not be null.
  [[nodiscard]] static Blob encoded(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                                    Encoding encoding, std::shared_ptr<const BlobProducer> producer,
                                    Digest digest = {});
  // `size` bytes that are not stored anywhere.
  [[nodiscard]] static Blob produced(std::uint64_t size, std::shared_ptr<const BlobProducer> producer);
  [[nodiscard]] static Blob memory(Bytes bytes);

  // Decoded bytes.
  std::uint64_t size() const { return size_; }
  // Bytes on disk; equal to size() for raw and produced blobs.
  std::uint64_t stored_size() const { return stored_; }
  Encoding encoding() const { return encoding_; }
  // The digest stored with the bytes; false if there is none.
  const Digest& digest() const { return digest_; }
  // The same bytes, also protected by a checksum of the larger range that they are a part of. Only for plain blobs; for
  // others, the producer verifies it.
  [[nodiscard]] Blob guarded(std::shared_ptr<const BlobGuard> guard) const;
  // The checksum of the larger range; null if there is none.
  const std::shared_ptr<const BlobGuard>& guard() const { return guard_; }
  // The source of the stored bytes; null for produced blobs.
  const SourcePtr& source() const { return source_; }
  std::uint64_t offset() const { return offset_; }
  // Whether the blob is a raw range of a source, which a mapping can show and the kernel can copy.
  bool is_plain() const { return producer_ == nullptr; }
  // Chunks that begin at multiples of this can be read independently (in parallel); 0: only from the beginning.
  std::uint64_t seek_granularity() const;
  unsigned looks() const { return producer_ == nullptr ? 1 : producer_->looks(); }
  // The producer's; 0 pieces and no attributes for plain blobs.
  std::size_t pieces() const { return producer_ == nullptr ? 0 : producer_->pieces(); }
  // Throws `blob.pieces` if there is no such piece.
  void make_piece(std::size_t piece, const PutRun& put) const;
  Map learned() const { return producer_ == nullptr ? Map() : producer_->learned(); }

  // All bytes without a copy; nothing if they must be read. Valid while a copy of this blob lives. They may change at
  // any moment: see `Source::view`. Compares the digest first if there is one.
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const;
  // Fills `out` from decoded byte `offset`. For raw blobs it touches only those bytes; for others it decodes as much as
  // necessary. In whatever order a compressed blob is read, in parts, it is decoded a few times at most: if necessary,
  // its bytes are kept in a temporary file.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  [[nodiscard]] std::unique_ptr<BlobReader> open(std::uint64_t offset = 0) const;
  // Whether the bytes of a compressed blob are being kept, so that `open` costs the same at every offset.
  bool is_kept() const;
  // Returns all bytes, produced on up to `threads` threads (0: all cores). Throws Error limit `blob.too_large` if there
  // are more than `limit`.
  [[nodiscard]] Bytes bytes(std::uint64_t limit = std::uint64_t{32} << 30, unsigned threads = 0) const;
  // Fills the caller's memory, which must have exactly size() bytes, with all bytes.
  void read_all(std::span<std::byte> out, unsigned threads = 0) const;

  // Compares the stored bytes with their digest, if its algorithm is known, and throws `digest.mismatch`; also with
  // their guard, if there is one. For produced bytes, verifies the blobs they are made of. Each range of a source is
  // hashed once.
  void verify() const;
  // The same bytes without their digest and guard, for callers that compare them in another way or want to see damaged
  // bytes. Compressed bytes are compared nevertheless: their decoder keeps the digest.
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
