// zt.zstd-seekable/1: frames that all decode to the same size (the last may differ), then a table of them.
//
//   frame...            zstd, each with a checksum of its content, at most 16 MiB decoded
//   u32 0x184D2A5E      a skippable frame; u32 bytes of what follows
//   u32 c, u32 d, ...   stored and decoded bytes of each frame (and a u32 checksum, if bit 7 of the descriptor is set)
//   u32 frames, u8 descriptor, u32 0x8F92EAB1
#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <new>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/once.hpp"
#include "base/printable.hpp"
#include "formats/zt2/zt2.hpp"
#include "model/block_reader.hpp"
#include "model/transfer.hpp"

namespace tare::zt2 {
namespace {

constexpr std::uint32_t kSkippable = 0x184D2A5E, kTableMagic = 0x8F92EAB1;
constexpr std::uint64_t kTail = 9, kHead = 8, kMostDecoded = std::uint64_t{16} << 20;

struct Frame {
  std::uint64_t offset;  // file offset
  std::uint32_t stored, decoded;
};

struct FreeDecoder {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// The stored bytes and their table; a reader may outlive the blob.
class SeekableStream {
 public:
  SeekableStream(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest)
      : source_(std::move(source)), offset_(offset), stored_(stored), size_(size), digest_(std::move(digest)) {}

  const std::vector<Frame>& frames() const {
    indexed_.run([this] { frames_ = read_table(); });
    return frames_;
  }
  const SourcePtr& source() const { return source_; }
  DigestAlgorithm algorithm() const {
    return digest_.algorithm() == DigestAlgorithm::unknown ? DigestAlgorithm::none : digest_.algorithm();
  }
  std::uint64_t size() const { return size_; }

  [[noreturn]] void fail(std::string_view sentence, std::uint64_t at) const {
    source_->check();  // if the file has changed, report that instead
    throw Error(ErrorKind::corrupt, "zt2.encoding", sentence).in(source_->name()).at(at);
  }
  void expect(const Digest& found) const {
    if (!digest_ || found.algorithm() != digest_.algorithm() || found == digest_) return;
    throw Error(ErrorKind::corrupt, "digest.mismatch",
                fmt::format("the {} decoded bytes do not match their digest: expected {}, found {}", size_,
                            digest_.text(), found.text()))
        .in(source_->name())
        .at(offset_);
  }

 private:
  std::vector<Frame> read_table() const {
    const std::uint64_t end = offset_ + stored_;
    if (stored_ < kTail + kHead) fail(fmt::format("{} bytes are too few for a table of frames", stored_), offset_);
    std::array<std::byte, kTail> tail{};
    source_->read(end - kTail, tail);
    if (load_le<std::uint32_t>(tail.data() + 5) != kTableMagic) fail("does not end in a table of frames", end - 4);
    const auto descriptor = std::to_integer<unsigned>(tail[4]);
    if ((descriptor & 0x7F) != 0)
      fail(fmt::format("the table's descriptor: expected 0 or 0x80, found {:#04x}", descriptor), end - 5);
    const std::uint64_t count = load_le<std::uint32_t>(tail.data()), width = descriptor == 0 ? 8 : 12;
    const std::uint64_t content = count * width + kTail;  // at most 2^32 times 12, plus the tail: no overflow
    if (content > stored_ - kHead)
      fail(fmt::format("a table of {} frames is larger than the part", count), end - kTail);
    const std::uint64_t start = end - kHead - content;
    const io::Metadata table(*source_, start, kHead + count * width);
    const std::byte* const bytes = table.bytes().data();
    if (load_le<std::uint32_t>(bytes) != kSkippable || load_le<std::uint32_t>(bytes + 4) != content)
      fail("the table of frames has a malformed head", start);
    std::vector<Frame> frames;
    frames.reserve(static_cast<std::size_t>(count));
    std::uint64_t at = offset_, decoded = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* const entry = bytes + kHead + i * width;
      const Frame frame{at, load_le<std::uint32_t>(entry), load_le<std::uint32_t>(entry + 4)};
      if (frame.decoded > kMostDecoded)
        fail(fmt::format("frame {} decodes to {} bytes, at most 16 MiB allowed", i, frame.decoded), start);
      if (frame.stored > ZSTD_compressBound(kMostDecoded))
        fail(fmt::format("frame {} has {} bytes", i, frame.stored), start);
      if (i > 0 && i + 1 < count && frame.decoded != frames.front().decoded)
        fail(fmt::format("frame {} decodes to {} bytes, the first to {}", i, frame.decoded, frames.front().decoded),
             start);
      frames.push_back(frame);
      at += frame.stored;
      decoded += frame.decoded;
    }
    if (decoded != size_)
      fail(fmt::format("the frames decode to {} bytes, the manifest states {}", decoded, size_), start);
    if (at != start) fail(fmt::format("the frames end at {}, the table begins at {}", at, start), start);
    return frames;
  }

  SourcePtr source_;
  std::uint64_t offset_, stored_, size_;
  Digest digest_;
  mutable Once indexed_;
  mutable std::vector<Frame> frames_;
};

// Checks the digest once everything has been read.
class SeekableReader final : public BlockReader {
 public:
  SeekableReader(std::shared_ptr<const SeekableStream> stream, std::size_t frame)
      : stream_(std::move(stream)),
        next_(frame),
        hasher_(frame == 0 ? stream_->algorithm() : DigestAlgorithm::none),
        context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    while (next_ < stream_->frames().size() && stream_->frames()[next_].decoded == 0) decode();
    finish_if_done();
  }

 protected:
  std::span<const std::byte> make_block() override {
    if (next_ == stream_->frames().size()) return {};
    decode();
    while (next_ < stream_->frames().size() && stream_->frames()[next_].decoded == 0) {
      Bytes kept = std::move(out_);
      decode();
      out_ = std::move(kept);
    }
    finish_if_done();
    return out_;
  }

 private:
  void decode() {
    const Frame& frame = stream_->frames()[next_++];
    in_.resize(frame.stored);
    stream_->source()->read(frame.offset, in_);  // a copy, because zstd reads its input more than once
    constexpr std::size_t kDescriptor = 4;
    if (in_.size() <= kDescriptor || load_le<std::uint32_t>(in_.data()) != ZSTD_MAGICNUMBER)
      stream_->fail("a frame does not begin with zstd's magic", frame.offset);
    if ((in_[kDescriptor] & std::byte{4}) == std::byte{0})
      stream_->fail("a frame has no checksum of its content", frame.offset);
    out_.resize(frame.decoded);
    const std::size_t made = ZSTD_decompressDCtx(context_.get(), out_.data(), out_.size(), in_.data(), in_.size());
    if (ZSTD_isError(made) != 0) {
      if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      stream_->fail(fmt::format("zstd cannot decode a frame: {}", ZSTD_getErrorName(made)), frame.offset);
    }
    if (made != frame.decoded)
      stream_->fail(fmt::format("a frame decodes to {} bytes, the table states {}", made, frame.decoded), frame.offset);
    hasher_.update(out_);
  }
  void finish_if_done() {
    if (finished_ || next_ != stream_->frames().size()) return;
    finished_ = true;
    stream_->expect(hasher_.finish());
  }

  std::shared_ptr<const SeekableStream> stream_;
  std::size_t next_;
  Hasher hasher_;
  bool finished_ = false;
  std::unique_ptr<ZSTD_DCtx, FreeDecoder> context_;
  Bytes in_, out_;
};

class SeekableProducer final : public BlobProducer {
 public:
  explicit SeekableProducer(std::shared_ptr<const SeekableStream> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<BlobReader> open(std::uint64_t offset) const override {
    const std::vector<Frame>& all = stream_->frames();
    const std::uint64_t step = all.empty() ? 0 : all.front().decoded;
    const auto frame = step == 0 ? 0 : std::min<std::uint64_t>(offset / step, all.size() - 1);
    auto reader = std::make_unique<SeekableReader>(stream_, frame);
    reader->skip(offset - frame * step);
    return reader;
  }
  std::uint64_t seek_granularity() const override {
    return stream_->frames().size() < 2 ? 0 : stream_->frames().front().decoded;
  }
  void verify() const override {
    const auto reader = open(0);
    Bytes buffer(static_cast<std::size_t>(std::min<std::uint64_t>(stream_->size(), std::size_t{1} << 20)));
    for (std::uint64_t left = stream_->size(); left > 0;) {
      const auto part = std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left)));
      reader->read(part);
      left -= part.size();
    }
  }

 private:
  std::shared_ptr<const SeekableStream> stream_;
};

class UndecodableProducer final : public BlobProducer {
 public:
  explicit UndecodableProducer(std::string encoding) : encoding_(std::move(encoding)) {}
  std::unique_ptr<BlobReader> open(std::uint64_t /*offset*/) const override { refuse(); }
  void verify() const override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(
        ErrorKind::unsupported, "zt2.encoding.unknown",
        fmt::format("the encoding \"{}\" is not one Tare knows; its bytes cannot be decoded", quote(encoding_)));
  }
  std::string encoding_;
};

}  // namespace

Blob seekable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size, Digest digest) {
  auto producer = std::make_shared<const SeekableProducer>(
      std::make_shared<const SeekableStream>(source, offset, stored, size, digest));
  return Blob::encoded(std::move(source), offset, stored, size, Encoding::zstd_seekable, std::move(producer),
                       std::move(digest));
}

Blob undecodable_blob(SourcePtr source, std::uint64_t offset, std::uint64_t stored, std::uint64_t size,
                      std::string encoding, Digest digest) {
  return Blob::encoded(std::move(source), offset, stored, size, Encoding::raw,
                       std::make_shared<const UndecodableProducer>(std::move(encoding)), std::move(digest));
}

}  // namespace tare::zt2
