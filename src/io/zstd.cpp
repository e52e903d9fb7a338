#include "io/zstd.hpp"

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <new>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "io/metadata.hpp"
#include "tare/error.hpp"

namespace tare::io {
namespace {

// Compressed bytes per read.
constexpr std::size_t kInput = std::size_t{256} << 10;

// Throws unless zstd's result is a success; calls `corrupt` for errors that the data causes.
template <typename Corrupt>
void require(std::size_t result, const Corrupt& corrupt) {
  if (ZSTD_isError(result) == 0) return;
  if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  corrupt(ZSTD_getErrorName(result));
}

void require_compressed(std::size_t result) {
  require(result, [](const char* words) {
    throw Error(ErrorKind::io, "zstd.pack", fmt::format("zstd could not compress: {}", words));
  });
}

// A decoder keeps its most recent output, up to the window size that the frame states. Allowed are 32 MiB, or eight
// times the compressed bytes up to zstd's own limit (128 MiB). Writers need more than 8 MiB only at the highest levels.
int most_window_log(std::uint64_t stored) {
  constexpr std::uint64_t kLeast = std::uint64_t{32} << 20, kMost = std::uint64_t{128} << 20;
  const std::uint64_t most = std::clamp(stored < kMost ? 8 * stored : kMost, kLeast, kMost);
  return static_cast<int>(std::bit_width(most)) - 1;
}

template <typename Context>
Context* allocated(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

void ZstdCompressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void ZstdDecompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

ZstdCompressor::ZstdCompressor(int level, bool checksum) : context_(allocated(ZSTD_createCCtx())) {
  require_compressed(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
  require_compressed(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_contentSizeFlag, 1));
  require_compressed(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, checksum ? 1 : 0));
}
ZstdCompressor::~ZstdCompressor() = default;

std::span<const std::byte> ZstdCompressor::compress(std::span<const std::byte> bytes) {
  if (const std::size_t most = ZSTD_compressBound(bytes.size()); most > capacity_) {
    out_ = std::make_unique_for_overwrite<std::byte[]>(most);
    capacity_ = most;
  }
  const std::size_t n = ZSTD_compress2(context_.get(), out_.get(), capacity_, bytes.data(), bytes.size());
  require_compressed(n);
  return {out_.get(), n};
}

ZstdDecompressor::ZstdDecompressor(SourcePtr source, std::uint64_t offset, std::uint64_t stored)
    : source_(std::move(source)), next_(offset), end_(offset + stored), context_(allocated(ZSTD_createDCtx())) {
  require(ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, most_window_log(stored)), [](const char* words) {
    throw Error(ErrorKind::io, "zstd.window", fmt::format("zstd takes no bound on its window: {}", words));
  });
}
ZstdDecompressor::~ZstdDecompressor() = default;

std::size_t ZstdDecompressor::pull(std::span<std::byte> out) {
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  for (;;) {
    if (input_.empty() && next_ < end_) {
      // A copy: zstd reads its input more than once, with undefined results if it changes in between.
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kInput, end_ - next_));
      if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(count);
      const std::span part(buffer_.get(), count);
      source_->read(next_, part);
      input_ = part;
      next_ += input_.size();
    }
    if (to.pos == to.size && !out.empty()) return to.pos;
    ZSTD_inBuffer from{input_.data(), input_.size(), 0};
    const std::size_t before = to.pos;
    // Between frames without input there is nothing left to decode.
    if (wanted_ == 0 && input_.empty()) return to.pos;
    const std::size_t status = ZSTD_decompressStream(context_.get(), &to, &from);
    input_ = input_.subspan(from.pos);
    require(status, [&](const char* words) {
      source_->check();  // reports a file that has changed first
      if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge)
        throw Error(
            ErrorKind::limit, "zstd.window",
            "the compressed data is too small to need a window of more than 32 MiB; compress it at a lower level")
            .in(source_->name())
            .at(next_ - input_.size());
      throw Error(ErrorKind::corrupt, "zstd.frame", fmt::format("zstd cannot decode: {}", words))
          .in(source_->name())
          .at(next_ - input_.size());
    });
    wanted_ = status;
    const bool stuck = from.pos == 0 && to.pos == before;
    if (stuck && (input_.empty() ? next_ == end_ : true)) return to.pos;
  }
}

void ZstdDecompressor::read(std::span<std::byte> out) {
  if (out.empty()) return;
  const std::size_t got = pull(out);
  if (got == out.size()) return;
  throw Error(ErrorKind::corrupt, "zstd.short",
              fmt::format("the compressed data ends {} bytes early", out.size() - got))
      .in(source_->name())
      .at(end_);
}

void ZstdDecompressor::expect_end() {
  std::array<std::byte, 1> one{};
  if (pull(one) != 0)
    throw Error(ErrorKind::corrupt, "zstd.long", "the compressed data decodes to more bytes than the file says")
        .in(source_->name())
        .at(next_ - input_.size());
  if (wanted_ != 0)
    throw Error(ErrorKind::corrupt, "zstd.short", "the last zstd frame is truncated").in(source_->name()).at(end_);
  source_->check();
}

std::vector<ZstdFrame> find_zstd_frames(const Source& source, std::uint64_t offset, std::uint64_t stored,
                                        std::uint64_t size) {
  constexpr std::uint32_t kMagic = 0xFD2FB528;
  const std::uint64_t end = offset + stored;
  std::vector<ZstdFrame> frames;
  std::uint64_t decoded = 0;
  Window window(source);
  while (offset < end) {
    constexpr std::size_t kHead = 18;  // the longest frame header
    std::array<std::byte, kHead> head{};
    const auto part = window.get(offset, std::min<std::uint64_t>(kHead, end - offset));
    std::copy(part.begin(), part.end(), head.begin());
    if (part.size() < 6 || load_le<std::uint32_t>(head.data()) != kMagic) return {};
    const unsigned long long content = ZSTD_getFrameContentSize(head.data(), part.size());
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN) return {};
    frames.push_back({offset, decoded});
    const auto total = checked_add(decoded, content);
    if (!total || *total > size) return {};
    decoded = *total;

    const auto descriptor = std::to_integer<unsigned>(head[4]);
    const bool single_segment = (descriptor & 0x20) != 0, checksum = (descriptor & 0x04) != 0;
    static constexpr std::array<unsigned, 4> kDictionaryBytes = {0, 1, 2, 4}, kSizeBytes = {0, 2, 4, 8};
    const unsigned size_bytes = descriptor >> 6 == 0 && single_segment ? 1 : kSizeBytes[descriptor >> 6];
    offset += 5 + (single_segment ? 0 : 1) + kDictionaryBytes[descriptor & 3] + size_bytes;
    for (bool last = false; !last;) {
      if (!fits(offset, 3, end)) return {};
      const auto block = window.get(offset, 3);
      const std::uint32_t header = load_le<std::uint16_t>(block.data()) | std::to_integer<std::uint32_t>(block[2])
                                                                              << 16;
      last = (header & 1) != 0;
      const std::uint32_t kind = (header >> 1) & 3, length = header >> 3;
      if (kind == 3) return {};
      offset += 3 + (kind == 1 ? 1 : length);  // a run stores only one byte
    }
    if (checksum) offset += 4;
    if (offset > end) return {};
  }
  if (decoded != size) return {};
  return frames;
}

}  // namespace tare::io
