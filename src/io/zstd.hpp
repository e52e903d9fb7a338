// Zstd in independent frames: compressed and decompressed on all cores, readable by any decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tare/source.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace tare::io {

// Input bytes of one frame.
inline constexpr std::size_t kZstdFrame = std::size_t{4} << 20;

// Compresses one frame at a time; use one per thread.
class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level, bool checksum = false);
  ~ZstdCompressor();
  ZstdCompressor(ZstdCompressor&&) noexcept = default;
  ZstdCompressor& operator=(ZstdCompressor&&) noexcept = default;
  // Returns a frame with its content size, and a checksum if requested; valid until the next call.
  std::span<const std::byte> compress(std::span<const std::byte> bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::unique_ptr<std::byte[]> out_;  // not initialized: zstd leaves most of it untouched
  std::size_t capacity_ = 0;
};

// Decodes the frames stored at [offset, offset + stored) of a source in order, in bounded memory. Errors have rules
// `zstd.*`, the file and the offset.
class ZstdDecompressor {
 public:
  ZstdDecompressor(SourcePtr source, std::uint64_t offset, std::uint64_t stored);
  ~ZstdDecompressor();
  // Fills `out`; throws `zstd.short` if the frames end earlier.
  void read(std::span<std::byte> out);
  // Fills as much of `out` as possible; returns 0 at the end.
  std::size_t read_some(std::span<std::byte> out) { return pull(out); }
  // Throws `zstd.long` unless everything has been read, and `zstd.short` unless the last frame is complete.
  void expect_end();

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::size_t pull(std::span<std::byte> out);

  SourcePtr source_;
  std::uint64_t next_, end_;          // stored bytes not yet read
  std::span<const std::byte> input_;  // read, but not yet consumed by the decoder
  std::unique_ptr<std::byte[]> buffer_;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::size_t wanted_ = 0;  // 0: between frames
};

struct ZstdFrame {
  std::uint64_t stored_offset;   // absolute in the source
  std::uint64_t decoded_offset;  // in the blob
};

// Finds the frames of a stored range by their block headers, without decoding. Empty if the range is malformed, a frame
// does not state its size, or the sizes do not add up to `size`: then it must be decoded in order.
std::vector<ZstdFrame> find_zstd_frames(const Source& source, std::uint64_t offset, std::uint64_t stored,
                                        std::uint64_t size);

}  // namespace tare::io
