// Four-bit codes straight to bf16, and the turning of words and bytes that lie in columns. With whatever SIMD the processor
// has; the results are the same, bit for bit, on every one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tare::codec::packs {

// How codes lie in bytes.
enum class NibbleOrder {
  low_first,   // two to a byte, that of the even place in the low half
  high_first,  // two to a byte, that of the even place in the high half
  low_only,    // one to a byte, in the low half
  high_only,   // one to a byte, in the high half
};

// What codes stand for: scale * (of[code] - zero).
struct NibbleValues {
  const std::array<float, 16>& of;
  float zero, scale;
};
// 0 to 15.
extern const std::array<float, 16> kWholeNibbles;

// The values, rounded to bf16 as floats_to_bf16 does it, little-endian. False, and nothing is written, if one of the sixteen is
// NaN or too large for bf16: then it has to be done in another way.
bool nibbles_to_bf16(NibbleOrder order, const std::byte* codes, std::size_t count, const NibbleValues& values,
                     std::byte* out);

// Lines of words or bytes, `pitch` bytes apart, of which a few columns are wanted. `more` lines follow, which are going to be
// asked for next.
struct Lines {
  const std::byte* first;
  std::size_t pitch, count, more;
};
// out[column * stride + line] = the word of this column. `stride` >= lines.count.
void turn_words(const Lines& lines, std::size_t columns, std::uint32_t* out, std::size_t stride);
void turn_bytes(const Lines& lines, std::size_t columns, std::byte* out, std::size_t stride);

}  // namespace tare::codec::packs
