#include "tare/blob.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/once.hpp"
#include "base/parallel.hpp"
#include "io/checked_ranges.hpp"
#include "io/kept_bytes.hpp"
#include "io/remote/extent.hpp"
#include "io/zstd.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

class RangeReader final : public BlobReader {
 public:
  RangeReader(SourcePtr source, std::uint64_t offset, std::uint64_t end)
      : source_(std::move(source)), offset_(offset), end_(end) {}
  void read(std::span<std::byte> out) override {
    if (out.empty()) return;
    if (!fits(offset_, out.size(), end_)) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    const io::remote::ReadingUntil until(*source_, end_);
    source_->read(offset_, out);
    offset_ += out.size();
  }

 private:
  SourcePtr source_;
  std::uint64_t offset_, end_;
};

bool is_known(const Digest& digest) { return digest && digest.algorithm() != DigestAlgorithm::unknown; }

// Decodes in order; after the last byte it checks that nothing follows.
class ZstdReader final : public BlobReader {
 public:
  ZstdReader(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t left, std::uint64_t discard)
      : decompressor_(std::move(source), offset, stored), left_(left + discard) {
    Bytes scratch(static_cast<std::size_t>(std::min<std::uint64_t>(discard, kChunk)));
    while (discard > 0) {
      const auto part =
          std::span(scratch).first(static_cast<std::size_t>(std::min<std::uint64_t>(discard, scratch.size())));
      read(part);
      discard -= part.size();
    }
    if (left_ == 0) decompressor_.expect_end();
  }
  void read(std::span<std::byte> out) override {
    if (out.empty()) return;
    if (out.size() > left_) throw Error(ErrorKind::usage, "blob.bounds", "read past the end of a blob");
    decompressor_.read(out);
    left_ -= out.size();
    if (left_ == 0) decompressor_.expect_end();
  }

 private:
  io::ZstdDecompressor decompressor_;
  std::uint64_t left_;
};

class ZstdProducer final : public BlobProducer {
 public:
  ZstdProducer(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest)
      : source_(std::move(source)), offset_(offset), stored_(stored), size_(size), digest_(std::move(digest)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    verify();
    std::uint64_t start = offset_, decoded = 0;
    if (offset > 0) {
      const auto& frames = index();
      const auto after = std::upper_bound(frames.begin(), frames.end(), offset,
                                          [](std::uint64_t o, const io::ZstdFrame& f) { return o < f.decoded_offset; });
      if (after != frames.begin()) {
        start = std::prev(after)->stored_offset;
        decoded = std::prev(after)->decoded_offset;
      }
    }
    return std::make_unique<ZstdReader>(source_, start, offset_ + stored_ - start, size_ - offset, offset - decoded);
  }

  std::uint64_t seek_granularity() const override {
    // Tare's writer makes frames of equal size. Other frames can still be opened at the nearest frame, but not at a
    // stride.
    const auto& frames = index();
    if (frames.size() < 2) return 0;
    const std::uint64_t step = frames[1].decoded_offset;
    for (std::size_t i = 1; i < frames.size(); ++i)
      if (frames[i].decoded_offset != i * step) return 0;
    return size_ - frames.back().decoded_offset <= step ? step : 0;
  }

  // Every decode compares the digest, even after the blob was cast, sliced or copied.
  void verify() const override {
    if (is_known(digest_)) io::CheckedRanges::check(*source_, offset_, stored_, digest_);
  }

 private:
  const std::vector<io::ZstdFrame>& index() const {
    indexed_.run([this] {
      try {
        frames_ = io::find_zstd_frames(*source_, offset_, stored_, size_);
      } catch (const Error&) {
        verify();  // a mismatch explains the error better than the frames
        throw;
      }
    });
    return frames_;
  }

  SourcePtr source_;
  std::uint64_t offset_, stored_, size_;
  Digest digest_;
  mutable Once indexed_;
  mutable std::vector<io::ZstdFrame> frames_;
};

}  // namespace

std::string_view name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::raw: return "raw";
    case Encoding::zstd: return "zstd";
    case Encoding::deflate: return "deflate";
    case Encoding::zstd_seekable: return "zstd-seekable";
  }
  return "?";
}

BlobProducer::~BlobProducer() { delete kept_.load(std::memory_order_acquire); }

io::KeptBytes& BlobProducer::kept() const {
  if (io::KeptBytes* const made = kept_.load(std::memory_order_acquire)) return *made;
  auto fresh = std::make_unique<io::KeptBytes>();
  io::KeptBytes* expected = nullptr;
  if (!kept_.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) return *expected;
  return *fresh.release();
}

void BlobProducer::make_piece(std::size_t /*piece*/, const PutRun& /*put*/) const {
  throw Error(ErrorKind::usage, "blob.pieces", "this blob is not made in pieces");
}

Blob Blob::range(SourcePtr source, std::uint64_t offset, std::uint64_t length, Digest digest) {
  if (source == nullptr || !fits(offset, length, source->size()))
    throw Error(
        ErrorKind::usage, "blob.bounds",
        fmt::format("{} bytes at {} asked of a source of {}", length, offset, source == nullptr ? 0 : source->size()));
  Blob blob;
  blob.source_ = std::move(source);
  blob.offset_ = offset;
  blob.stored_ = blob.size_ = length;
  blob.digest_ = std::move(digest);
  return blob;
}

Blob Blob::zstd(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest) {
  auto producer = std::make_shared<const ZstdProducer>(source, offset, stored, size, digest);
  return encoded(std::move(source), offset, stored, size, Encoding::zstd, std::move(producer), std::move(digest));
}

Blob Blob::encoded(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Encoding encoding,
                   std::shared_ptr<const BlobProducer> producer, Digest digest) {
  if (producer == nullptr) throw Error(ErrorKind::usage, "blob.producer", "nothing is there to make the blob's bytes");
  Blob blob;
  blob.source_ = std::move(source);
  blob.producer_ = std::move(producer);
  blob.offset_ = offset;
  blob.stored_ = stored;
  blob.size_ = size;
  blob.encoding_ = encoding;
  blob.digest_ = std::move(digest);
  return blob;
}

Blob Blob::produced(std::uint64_t size, std::shared_ptr<const BlobProducer> producer) {
  return encoded(nullptr, 0, size, size, Encoding::raw, std::move(producer), {});
}

Blob Blob::memory(Bytes bytes) {
  const std::uint64_t size = bytes.size();
  return range(memory_source(std::move(bytes)), 0, size);
}

std::uint64_t Blob::seek_granularity() const { return producer_ == nullptr ? 1 : producer_->seek_granularity(); }

void Blob::make_piece(std::size_t piece, const PutRun& put) const {
  if (piece >= pieces())
    throw Error(ErrorKind::usage, "blob.pieces", fmt::format("piece {} of a blob that has {}", piece, pieces()));
  // The caller's memory or file contains other data after this blob, so a producer must not write beyond it.
  producer_->make_piece(piece, [&](std::uint64_t offset, std::span<const std::byte> run) {
    if (!fits(offset, run.size(), size_))
      throw Error(ErrorKind::usage, "blob.bounds",
                  fmt::format("{} bytes at {} made for a blob of {}", run.size(), offset, size_));
    put(offset, run);
  });
}

std::optional<std::span<const std::byte>> Blob::view() const {
  if (!is_plain()) return std::nullopt;
  if (source_ == nullptr) return std::span<const std::byte>();
  const auto seen = source_->view(offset_, size_);
  if (seen) verify();
  return seen;
}

bool Blob::is_kept() const {
  if (producer_ == nullptr || encoding_ == Encoding::raw) return false;
  io::KeptBytes* const kept = producer_->kept_.load(std::memory_order_acquire);
  return kept != nullptr && kept->get() != nullptr;
}

std::unique_ptr<BlobReader> Blob::open(std::uint64_t offset) const {
  if (offset > size_) throw Error(ErrorKind::usage, "blob.bounds", "opened past the end of a blob");
  if (producer_ != nullptr) {
    if (encoding_ != Encoding::raw && offset > 0)
      if (SourcePtr kept = producer_->kept().before_open(*producer_, size_, offset))
        return std::make_unique<RangeReader>(std::move(kept), offset, size_);
    auto reader = producer_->open(offset);
    if (reader == nullptr) throw Error(ErrorKind::usage, "blob.producer", "a producer gave no reader");
    return reader;
  }
  verify();
  return std::make_unique<RangeReader>(source_, offset_ + offset, offset_ + size_);
}

void Blob::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (!fits(offset, out.size(), size_))
    throw Error(ErrorKind::usage, "blob.bounds",
                fmt::format("{} bytes at {} asked of a blob of {}", out.size(), offset, size_));
  if (out.empty()) return;
  if (!is_plain()) return open(offset)->read(out);
  const io::remote::ReadingUntil until(*source_, offset_ + size_);
  source_->read(offset_ + offset, out);
  if (out.size() != size_) return;
  if (is_known(digest_)) io::CheckedRanges::check(*source_, offset_, size_, digest_, out);
  if (guard_ != nullptr) guard_->verify();
}

Bytes Blob::bytes(std::uint64_t limit, unsigned threads) const {
  if (size_ > limit)
    throw Error(ErrorKind::limit, "blob.too_large", fmt::format("expected at most {} bytes, found {}", limit, size_));
  Bytes all(static_cast<std::size_t>(size_));
  read_all(all, threads);
  return all;
}

void Blob::read_all(std::span<std::byte> all, unsigned threads) const {
  if (all.size() != size_)
    throw Error(ErrorKind::usage, "blob.bounds", fmt::format("{} bytes asked of a blob of {}", all.size(), size_));
  const std::uint64_t step = is_plain() ? 0 : seek_granularity();
  if (all.empty() && !is_plain()) {
    (void)open();  // throws if the stored bytes decode to more than nothing
  } else if (pieces() != 0) {
    const PutRun put = [&](std::uint64_t offset, std::span<const std::byte> run) {
      std::copy(run.begin(), run.end(), all.begin() + static_cast<std::ptrdiff_t>(offset));
    };
    parallel_for(pieces(), threads, [&](std::size_t i) { make_piece(i, put); });
  } else if (step == 0 || step >= size_) {
    read(0, all);
  } else {
    const std::uint64_t chunk = ceil_div(kChunk, step) * step;
    parallel_for(ceil_div(size_, chunk), threads, [&](std::size_t i) {
      const std::size_t begin = i * static_cast<std::size_t>(chunk);
      read(begin, all.subspan(begin, std::min(all.size() - begin, static_cast<std::size_t>(chunk))));
    });
  }
  if (encoding_ != Encoding::raw) verify();  // checks framing that decoding does not read
}

void Blob::verify() const {
  if (producer_ != nullptr) return producer_->verify();
  if (source_ != nullptr && is_known(digest_)) io::CheckedRanges::check(*source_, offset_, stored_, digest_);
  if (guard_ != nullptr) guard_->verify();
}

Blob Blob::guarded(std::shared_ptr<const BlobGuard> guard) const {
  Blob blob = *this;
  blob.guard_ = std::move(guard);
  return blob;
}

Blob Blob::unchecked() const {
  Blob blob = *this;
  blob.digest_ = {};
  blob.guard_ = nullptr;
  return blob;
}

}  // namespace tare
