// Loops over codes, with the best SIMD of the processor. The results are the same on every processor, bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tare::codec::packs {

// Expands codes of 1 to 8 bits from a stream of bits, the first code in the lowest bits of the first byte. Reads
// ceil(count * bits / 8) bytes.
void expand(unsigned bits, const std::byte* stream, std::size_t count, std::uint8_t* codes);
// The field number `index` of `bits` bits in a stream of little-endian 32-bit words, which may end directly after it.
std::uint32_t field_at(const std::byte* words, std::uint64_t index, unsigned bits);
// scale * (code - zero), rounded once, because the difference is exact.
void scale_codes(const std::uint8_t* codes, std::size_t count, float scale, float zero, float* out);
// scale * code + bias, rounded twice.
void scale_and_add(const std::uint8_t* codes, std::size_t count, float scale, float bias, float* out);

// The values of bytes.
struct ByteTable {
  const float* values = nullptr;  // 256
  bool e4m3fn = false;            // they are those of f8_e4m3fn
};
// values[byte] * scale.
void scale_bytes(const ByteTable& table, const std::byte* bytes, std::size_t count, float scale, float* out);

// The values of 4-bit codes.
struct NibbleTable {
  explicit NibbleTable(const std::array<float, 16>& of);
  std::array<float, 16> values;
  // Bytes of the values: all lowest bytes, then all second bytes, ...
  alignas(16) std::array<std::array<std::uint8_t, 16>, 4> bytes;
};
// values[nibble] * scale, two per byte: the even element is in the low half, or with `high_first` in the high half.
void scale_nibbles(const NibbleTable& table, const std::byte* bytes, std::size_t count, bool high_first, float scale,
                   float* out);

}  // namespace tare::codec::packs
