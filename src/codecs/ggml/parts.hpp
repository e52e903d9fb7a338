// Fields that the blocks of several types have.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/endian.hpp"
#include "base/half.hpp"

namespace tare::codec::ggml {

inline float half_at(const std::byte* bytes) { return f16_to_f32(load_le<std::uint16_t>(bytes)); }
inline unsigned byte_at(const std::byte* bytes, std::size_t i) { return std::to_integer<unsigned>(bytes[i]); }
inline int signed_at(const std::byte* bytes, std::size_t i) { return std::to_integer<std::int8_t>(bytes[i]); }

// The 16 values of the IQ4 types: denser where weights are more frequent.
inline constexpr std::array<float, 16> kIq4 = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};
// 4-bit floats: a sign, two bits of exponent, one of mantissa. ggml has no -0.
inline constexpr std::array<float, 16> kE2m1 = {0.0F, 0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                                0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

// Half of 2^(code - 127). It is halved so that the largest one fits f32.
inline float half_e8m0(unsigned code) {
  return std::bit_cast<float>(code < 2 ? 0x00200000U << code : (code - 1) << 23);
}

// A 7-bit float without a sign: 4 bits of exponent, 3 of mantissa. The largest code has no meaning and is read as 0.
inline float ue4m3(unsigned code) {
  const unsigned exponent = code >> 3 & 15, mantissa = code & 7;
  if (code == 0 || code == 0x7F) return 0;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-9F;
  return std::ldexp(1 + static_cast<float>(mantissa) / 8, static_cast<int>(exponent) - 7);
}

// The scales of Q4_K and Q5_K, 12 bytes: a 6-bit scale and a 6-bit minimum for each of 8 parts. Those of the first four
// parts have a byte each. For the other parts, the low 4 bits of both share a byte, and the high 2 bits are at the top
// of the first eight bytes.
struct ScaleAndMinimum {
  unsigned scale, minimum;
};
inline ScaleAndMinimum k_scale(const std::byte* packed, std::size_t part) {
  if (part < 4) return {byte_at(packed, part) & 63, byte_at(packed, part + 4) & 63};
  const unsigned low = byte_at(packed, part + 4);
  return {(low & 15) | (byte_at(packed, part - 4) >> 6) << 4, low >> 4 | (byte_at(packed, part) >> 6) << 4};
}

// The scales of Q3_K, 12 bytes: 16 scales of 6 bits, stored plus 32. First the low 4 bits, two per byte, then the high
// 2 bits, four per byte.
inline int q3_scale(const std::byte* packed, std::size_t part) {
  const unsigned low = part < 8 ? byte_at(packed, part) & 15 : byte_at(packed, part - 8) >> 4;
  const unsigned high = byte_at(packed, 8 + part % 4) >> (2 * (part / 4)) & 3;
  return static_cast<int>(low | high << 4) - 32;
}

// The f16 scale of an IQ1_M block: four bits in each of the four numbers that hold its scales.
inline float iq1_m_half(const std::byte* block) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < 4; ++i)
    bits |= static_cast<unsigned>(load_le<std::uint16_t>(block + 48 + 2 * i) >> 12) << (4 * i);
  return f16_to_f32(static_cast<std::uint16_t>(bits));
}

}  // namespace tare::codec::ggml
