// ggml's types for tests: the formula of every weight, one element at a time in double precision, and random blocks.
#pragma once

#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/ggml/grids.hpp"
#include "tare/model.hpp"

namespace tare::testing::ggml {

// A block, with access to its fields.
struct Block {
  const std::byte* bytes;

  unsigned u8(std::size_t at) const { return std::to_integer<unsigned>(bytes[at]); }
  int i8(std::size_t at) const { return std::to_integer<std::int8_t>(bytes[at]); }
  unsigned u16(std::size_t at) const { return u8(at) | u8(at + 1) << 8; }
  double f16(std::size_t at) const { return static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(u16(at)))); }
  // The 4-bit code of weight i of 32: in the low half of byte i, or for i >= 16 in the high half of byte i - 16.
  unsigned half(std::size_t at, std::size_t i) const { return i < 16 ? u8(at + i) & 15 : u8(at + i - 16) >> 4; }
  unsigned bit(std::size_t at, std::size_t i) const { return u8(at + i / 8) >> (i % 8) & 1; }
};

inline constexpr double kTable[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

inline double e2m1(unsigned code) {
  constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return (code & 8) != 0 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
}

// Shared by k-quants: the scale and the minimum of part k in 12 bytes.
inline double k_scale(const Block& b, std::size_t at, std::size_t k) {
  return k < 4 ? b.u8(at + k) % 64 : b.u8(at + k + 4) % 16 + 16 * (b.u8(at + k - 4) / 64);
}
inline double k_minimum(const Block& b, std::size_t at, std::size_t k) {
  return k < 4 ? b.u8(at + k + 4) % 64 : b.u8(at + k + 4) / 16 + 16 * (b.u8(at + k) / 64);
}
// The two bits of weight i in 64 bytes.
inline int two_bits(const Block& b, std::size_t at, std::size_t i) {
  return static_cast<int>(b.u8(at + 32 * (i / 128) + i % 32) >> (2 * (i % 128 / 32)) & 3);
}

// Value i % width of a codeword; `signs` are those of the weights from the codeword's first on.
template <typename Word>
double value_of(Word codeword, unsigned signs, std::size_t i) {
  const auto magnitude = static_cast<double>(codeword >> (8 * (i % sizeof(Word))) & 255);
  return (signs >> (i % 8) & 1) != 0 ? -magnitude : magnitude;
}
inline unsigned even(unsigned seven) { return codec::ggml::even_signs(seven); }
// -1, 0 or 1, plus or minus an eighth.
inline double third_of(unsigned code, bool less, std::size_t i) {
  return static_cast<std::int8_t>(codec::ggml::kIq1Grid[code] >> (8 * (i % 8)) & 255) / 8.0 + (less ? -0.125 : 0.125);
}
// The f16 in the top bits of four numbers.
inline double spread_half(const Block& b) {
  const unsigned bits = b.u16(48) >> 12 | (b.u16(50) >> 12) << 4 | (b.u16(52) >> 12) << 8 | (b.u16(54) >> 12) << 12;
  return static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(bits)));
}

struct Type {
  std::string_view layout;
  std::size_t weights, bytes;
  std::vector<std::size_t> halves;  // offsets of f16 that must be finite
  double (*value)(const Block&, std::size_t);
};

inline const Type kTypes[] = {
    {"ggml.q4_0", 32, 18, {0}, [](const Block& b, std::size_t i) { return b.f16(0) * (int(b.half(2, i)) - 8); }},
    {"ggml.q4_1", 32, 20, {0, 2}, [](const Block& b, std::size_t i) { return b.f16(0) * b.half(4, i) + b.f16(2); }},
    {"ggml.q5_0",
     32,
     22,
     {0},
     [](const Block& b, std::size_t i) { return b.f16(0) * (int(b.half(6, i) + 16 * b.bit(2, i)) - 16); }},
    {"ggml.q5_1",
     32,
     24,
     {0, 2},
     [](const Block& b, std::size_t i) { return b.f16(0) * (b.half(8, i) + 16 * b.bit(4, i)) + b.f16(2); }},
    {"ggml.q8_0", 32, 34, {0}, [](const Block& b, std::size_t i) { return b.f16(0) * b.i8(2 + i); }},
    {"ggml.q8_1", 32, 36, {0, 2}, [](const Block& b, std::size_t i) { return b.f16(0) * b.i8(4 + i); }},
    {"ggml.q2_k",
     256,
     84,
     {80, 82},
     [](const Block& b, std::size_t i) {
       return b.f16(80) * (b.u8(i / 16) % 16) * two_bits(b, 16, i) - b.f16(82) * (b.u8(i / 16) / 16);
     }},
    {"ggml.q3_k",
     256,
     110,
     {108},
     [](const Block& b, std::size_t i) {
       const std::size_t k = i / 16;
       const unsigned low = k < 8 ? b.u8(96 + k) % 16 : b.u8(96 + k - 8) / 16;
       const unsigned high = b.u8(104 + k % 4) >> (2 * (k / 4)) & 3;
       const int code = two_bits(b, 32, i) - ((b.u8(i % 32) >> (i / 32) & 1) != 0 ? 0 : 4);
       return b.f16(108) * (int(low + 16 * high) - 32) * code;
     }},
    {"ggml.q4_k",
     256,
     144,
     {0, 2},
     [](const Block& b, std::size_t i) {
       const unsigned both = b.u8(16 + 32 * (i / 64) + i % 32), code = i % 64 < 32 ? both % 16 : both / 16;
       return b.f16(0) * k_scale(b, 4, i / 32) * code - b.f16(2) * k_minimum(b, 4, i / 32);
     }},
    {"ggml.q5_k",
     256,
     176,
     {0, 2},
     [](const Block& b, std::size_t i) {
       const unsigned both = b.u8(48 + 32 * (i / 64) + i % 32), low = i % 64 < 32 ? both % 16 : both / 16;
       const unsigned code = low + 16 * (b.u8(16 + i % 32) >> (i / 32) & 1);
       return b.f16(0) * k_scale(b, 4, i / 32) * code - b.f16(2) * k_minimum(b, 4, i / 32);
     }},
    {"ggml.q6_k",
     256,
     210,
     {208},
     [](const Block& b, std::size_t i) {
       const std::size_t s = i % 128 / 32;
       const unsigned both = b.u8(64 * (i / 128) + i % 32 + (s % 2 == 1 ? 32 : 0)), low = s < 2 ? both % 16 : both / 16;
       return b.f16(208) * b.i8(192 + i / 16) * (int(low) + 16 * two_bits(b, 128, i) - 32);
     }},
    {"ggml.q8_k",
     256,
     292,
     {},
     [](const Block& b, std::size_t i) { return static_cast<double>(load_le<float>(b.bytes)) * b.i8(4 + i); }},
    {"ggml.iq4_nl", 32, 18, {0}, [](const Block& b, std::size_t i) { return b.f16(0) * kTable[b.half(2, i)]; }},
    {"ggml.iq4_xs",
     256,
     136,
     {0},
     [](const Block& b, std::size_t i) {
       const std::size_t part = i / 32;
       const unsigned scale = (b.u8(4 + part / 2) >> (4 * (part % 2)) & 15) + 16 * (b.u16(2) >> (2 * part) & 3);
       return b.f16(0) * (int(scale) - 32) * kTable[b.half(8 + 16 * part, i % 32)];
     }},
    {"ggml.tq1_0",
     256,
     54,
     {52},
     [](const Block& b, std::size_t i) {
       const std::size_t digit = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;
       const std::size_t at = i < 160 ? i % 32 : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4;
       const unsigned rest = b.u8(at) * static_cast<unsigned>(std::lround(std::pow(3, digit))) % 256;
       return b.f16(52) * (int(rest * 3 / 256) - 1);
     }},
    {"ggml.tq2_0", 256, 66, {64}, [](const Block& b, std::size_t i) { return b.f16(64) * (two_bits(b, 0, i) - 1); }},
    {"ggml.mxfp4",
     32,
     17,
     {},
     [](const Block& b, std::size_t i) { return e2m1(b.half(1, i)) * std::pow(2, int(b.u8(0)) - 127); }},
    {"ggml.nvfp4",
     64,
     36,
     {},
     [](const Block& b, std::size_t i) {
       const unsigned code = b.u8(i / 16), exponent = code >> 3 & 15, mantissa = code & 7;
       const double scale = code % 128 == 127 || code == 0 ? 0
                            : exponent == 0                ? mantissa * std::pow(2, -9)
                                                           : (1 + mantissa / 8.0) * std::pow(2, int(exponent) - 7);
       const unsigned both = b.u8(4 + 8 * (i / 16) + i % 8);
       return e2m1(i % 16 < 8 ? both % 16 : both / 16) * scale;
     }},
    {"ggml.q1_0", 128, 18, {0}, [](const Block& b, std::size_t i) { return b.bit(2, i) != 0 ? b.f16(0) : -b.f16(0); }},
    {"ggml.q2_0",
     64,
     18,
     {0},
     [](const Block& b, std::size_t i) { return b.f16(0) * (int(b.u8(2 + i / 4) >> (2 * (i % 4)) & 3) - 1); }},
    {"ggml.iq2_xxs",
     256,
     66,
     {0},
     [](const Block& b, std::size_t i) {
       const std::size_t at = 2 + 8 * (i / 32), l = i / 8 % 4;
       const unsigned rest = b.u16(at + 4) | b.u16(at + 6) << 16;
       return b.f16(0) * (0.5 + (rest >> 28)) / 4 *
              value_of(codec::ggml::kIq2XxsGrid[b.u8(at + l)], even(rest >> (7 * l) & 127), i);
     }},
    {"ggml.iq2_xs",
     256,
     74,
     {0},
     [](const Block& b, std::size_t i) {
       const unsigned code = b.u16(2 + 2 * (i / 8)), scale = b.u8(66 + i / 32) >> (4 * (i / 16 % 2)) & 15;
       return b.f16(0) * (0.5 + scale) / 4 * value_of(codec::ggml::kIq2XsGrid[code % 512], even(code / 512), i);
     }},
    {"ggml.iq2_s",
     256,
     82,
     {0},
     [](const Block& b, std::size_t i) {
       const unsigned code = b.u8(2 + i / 8) + 256 * (b.u8(66 + i / 32) >> (2 * (i / 8 % 4)) & 3);
       const unsigned scale = b.u8(74 + i / 32) >> (4 * (i / 16 % 2)) & 15;
       return b.f16(0) * (0.5 + scale) / 4 * value_of(codec::ggml::kIq2SGrid[code], b.u8(34 + i / 8), i);
     }},
    {"ggml.iq3_xxs",
     256,
     98,
     {0},
     [](const Block& b, std::size_t i) {
       const std::size_t at = 66 + 4 * (i / 32);
       const unsigned rest = b.u16(at) | b.u16(at + 2) << 16;
       return b.f16(0) * (0.5 + (rest >> 28)) / 2 *
              value_of(codec::ggml::kIq3XxsGrid[b.u8(2 + i / 4)], even(rest >> (7 * (i / 8 % 4)) & 127), i);
     }},
    {"ggml.iq3_s",
     256,
     110,
     {0},
     [](const Block& b, std::size_t i) {
       const unsigned code = b.u8(2 + i / 4) + 256 * b.bit(66, i / 4), scale = b.u8(106 + i / 64) >> (4 * (i / 32 % 2));
       return b.f16(0) * (1 + 2 * (scale % 16)) * value_of(codec::ggml::kIq3SGrid[code], b.u8(74 + i / 8), i);
     }},
    {"ggml.iq1_s",
     256,
     50,
     {0},
     [](const Block& b, std::size_t i) {
       const unsigned high = b.u16(34 + 2 * (i / 32));
       const unsigned code = b.u8(2 + i / 8) + 256 * (high >> (3 * (i / 8 % 4)) & 7);
       return b.f16(0) * (2 * (high >> 12 & 7) + 1) * third_of(code, high >= 0x8000, i);
     }},
    {"ggml.iq1_m",
     256,
     56,
     {},
     [](const Block& b, std::size_t i) {
       const unsigned high = b.u8(32 + i / 16) >> (4 * (i / 8 % 2)) & 15, code = b.u8(i / 8) + 256 * (high % 8);
       const unsigned scale = b.u16(48 + 2 * (i / 64)) >> (3 * (i / 16 % 4)) & 7;
       return spread_half(b) * (2 * scale + 1) * third_of(code, high >= 8, i);
     }},
};

// Random bits, but with finite scales that are neither tiny nor huge.
inline Bytes random_blocks(const Type& type, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(type.bytes));
  Bytes bytes(type.bytes * count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (std::size_t block = 0; block < count; ++block) {
    std::byte* const begin = bytes.data() + block * type.bytes;
    for (const std::size_t at : type.halves)
      store_le(begin + at, f32_to_f16(static_cast<float>(static_cast<int>(random() % 2000) - 1000) * 0x1p-12F));
    if (type.layout == "ggml.q8_k") store_le(begin, static_cast<float>(random() % 1000) * 0x1p-14F);
    if (type.layout == "ggml.mxfp4") begin[0] = static_cast<std::byte>(100 + random() % 50);
    if (type.layout == "ggml.iq1_m") begin[55] = static_cast<std::byte>(0x20 + random() % 32);  // below 2
    if (type.layout == "ggml.nvfp4")
      for (int i = 0; i < 4; ++i) begin[i] &= std::byte{0x7F};
  }
  return bytes;
}

inline Tensor tensor_of(const Type& type, Bytes payload, Shape shape) {
  Tensor tensor;
  tensor.name = "w";
  tensor.layout = type.layout;
  tensor.shape = std::move(shape);
  tensor.components.push_back({"payload", DType::u8, {}, Blob::memory(std::move(payload))});
  return tensor;
}

}  // namespace tare::testing::ggml
