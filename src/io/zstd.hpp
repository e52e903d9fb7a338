// zstd in independent frames: packed and unpacked on all cores, readable by any decoder.
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

// Packs one frame at a time; keep one per thread.
class ZstdPacker {
 public:
  explicit ZstdPacker(int level, bool checksum = false);
  ~ZstdPacker();
  ZstdPacker(ZstdPacker&&) noexcept = default;
  ZstdPacker& operator=(ZstdPacker&&) noexcept = default;
  // A frame with its content size, and a checksum if that was asked for; valid until the next call.
  std::span<const std::byte> pack(std::span<const std::byte> bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  std::unique_ptr<std::byte[]> out_;  // never filled before zstd does: most of it stays untouched
  std::size_t capacity_ = 0;
};

// Decodes the frames stored at [offset, offset + stored) of a source front to back, in bounded memory. Errors carry
// rules `zstd.*`, the file and the offset.
class ZstdUnpacker {
 public:
  ZstdUnpacker(SourcePtr source, std::uint64_t offset, std::uint64_t stored);
  ~ZstdUnpacker();
  // Fills `out`; throws `zstd.short` when the frames end before.
  void read(std::span<std::byte> out);
  // Fills as much of `out` as there is; 0 at the end.
  std::size_t read_some(std::span<std::byte> out) { return pull(out); }
  // Throws `zstd.long` unless everything has been read and the last frame is complete.
  void expect_end();

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::size_t pull(std::span<std::byte> out);

  SourcePtr source_;
  std::uint64_t next_, end_;          // stored bytes not yet handed to the decoder
  std::span<const std::byte> input_;  // handed out, not yet consumed
  std::unique_ptr<std::byte[]> buffer_;
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::size_t wanted_ = 0;  // 0: between frames
};

// Where each frame starts, when all have a known content size.
struct ZstdFrame {
  std::uint64_t stored_offset;   // absolute in the source
  std::uint64_t decoded_offset;  // in the blob
};

// The frames of a stored range, found by walking block headers without decoding. Empty when the range is malformed, a
// frame does not say its size, or the sizes do not add up to `size`: it must then be decoded front to back.
std::vector<ZstdFrame> find_zstd_frames(const Source& source, std::uint64_t offset, std::uint64_t stored,
                                        std::uint64_t size);

}  // namespace tare::io
