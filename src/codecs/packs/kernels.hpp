// The loops over codes, with whatever SIMD the processor has. The results are the same, bit for bit, on every one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tare::codec::packs {

// Codes of 1 to 8 bits side by side: a stream of bits, the first code in the lowest bits of the first byte. Reads whole
// bytes: ceil(count * bits / 8).
void expand(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes);
// The field of `bits` bits at this place of a stream of little-endian 32-bit words, which may end right behind it.
std::uint32_t field_at(const std::byte* words, std::uint64_t index, unsigned bits);
// scale * (code - zero), rounded once: the difference is exact.
void scale_codes(const std::uint8_t* codes, std::size_t count, float scale, float zero, float* out);
// scale * code + bias, rounded twice.
void scale_and_add(const std::uint8_t* codes, std::size_t count, float scale, float bias, float* out);

// What bytes stand for.
struct ByteTable {
  const float* values = nullptr;  // 256
  bool e4m3fn = false;            // they are those of f8_e4m3fn
};
// values[byte] * scale.
void scale_bytes(const ByteTable& table, const std::byte* bytes, std::size_t count, float scale, float* out);

// What codes of four bits stand for.
struct NibbleTable {
  explicit NibbleTable(const std::array<float, 16>& of);
  std::array<float, 16> values;
  alignas(16) std::array<std::array<std::uint8_t, 16>, 4> bytes;  // of the values: all lowest ones, ...
};
// values[nibble] * scale, two to a byte: that of the even places is the low one, or the high one.
void scale_nibbles(const NibbleTable& table, const std::byte* bytes, std::size_t count, bool high_first, float scale,
                   float* out);

}  // namespace tare::codec::packs
