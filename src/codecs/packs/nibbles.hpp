// Converts 4-bit codes directly to bf16, and transposes words and bytes. Uses the best SIMD of the processor; the
// results are the same on every processor, bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tare::codec::packs {

// How codes are arranged in bytes.
enum class NibbleOrder {
  low_first,   // two per byte, the even element in the low half
  high_first,  // two per byte, the even element in the high half
  low_only,    // one per byte, in the low half
  high_only,   // one per byte, in the high half
};

// A code has the value scale * (of[code] - zero).
struct NibbleValues {
  const std::array<float, 16>& of;
  float zero, scale;
};
// 0 to 15.
extern const std::array<float, 16> kWholeNibbles;

// Writes the values, rounded to bf16 like floats_to_bf16, little-endian. If one of the sixteen is NaN or too large for
// bf16, writes nothing and returns false; the caller then converts through f32.
bool nibbles_to_bf16(NibbleOrder order, const std::byte* codes, std::size_t count, const NibbleValues& values,
                     std::byte* out);

// Lines of words or bytes, `pitch` bytes apart, of which a few columns are needed. `more` lines are needed next.
struct Lines {
  const std::byte* first;
  std::size_t pitch, count, more;
};
// Transposes: out[column * stride + line] = the word of this line and column. `stride` >= lines.count.
void turn_words(const Lines& lines, std::size_t columns, std::uint32_t* out, std::size_t stride);
void turn_bytes(const Lines& lines, std::size_t columns, std::byte* out, std::size_t stride);

}  // namespace tare::codec::packs
