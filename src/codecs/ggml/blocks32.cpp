// Types with blocks of 32 weights (64 and 128 for NVFP4, Q2_0 and Q1_0): weight i is in the low half of byte i, weight
// i + 16 in the high half.
#include "codecs/ggml/field_words.hpp"

namespace tare::codec::ggml {
namespace {

// Calls put(i, code) for 32 codes of 4 bits.
template <typename Put>
void for_halves(const std::byte* codes, const Put& put) {
  for (std::size_t i = 0; i < 16; ++i) put(i, byte_at(codes, i) & 15);
  for (std::size_t i = 0; i < 16; ++i) put(i + 16, byte_at(codes, i) >> 4);
}

// As above, with a fifth bit from `high`.
template <typename Put>
void for_halves(const std::byte* codes, std::uint32_t high, const Put& put) {
  for_halves(codes, [&](std::size_t i, unsigned code) { put(i, code | (high >> i & 1) << 4); });
}

void decode_q4_0(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for_halves(block + 2,
             [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(static_cast<int>(code) - 8) * d; });
}

void decode_q4_1(const std::byte* block, float* weights) {
  const float d = half_at(block), minimum = half_at(block + 2);
  for_halves(block + 4, [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(code) * d + minimum; });
}

void decode_q5_0(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for_halves(block + 6, load_le<std::uint32_t>(block + 2),
             [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(static_cast<int>(code) - 16) * d; });
}

void decode_q5_1(const std::byte* block, float* weights) {
  const float d = half_at(block), minimum = half_at(block + 2);
  for_halves(block + 8, load_le<std::uint32_t>(block + 4),
             [&](std::size_t i, unsigned code) { weights[i] = static_cast<float>(code) * d + minimum; });
}

void decode_q8_0(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(signed_at(block + 2, i)) * d;
}

// The second f16 is d times the sum of the codes; only products use it.
void decode_q8_1(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for (std::size_t i = 0; i < 32; ++i) weights[i] = static_cast<float>(signed_at(block + 4, i)) * d;
}

void decode_iq4_nl(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for_halves(block + 2, [&](std::size_t i, unsigned code) { weights[i] = d * kIq4[code]; });
}

void decode_mxfp4(const std::byte* block, float* weights) {
  const float scale = half_e8m0(byte_at(block, 0));
  for_halves(block + 1, [&](std::size_t i, unsigned code) { weights[i] = kE2m1[code] * 2 * scale; });
}

// Four groups of 16 weights, each with its own scale: weight i of a group in the low half of byte i, weight i + 8 in
// the high half.
void decode_nvfp4(const std::byte* block, float* weights) {
  for (std::size_t group = 0; group < 4; ++group) {
    const float scale = ue4m3(byte_at(block, group));
    for (std::size_t i = 0; i < 8; ++i) {
      const unsigned codes = byte_at(block, 4 + 8 * group + i);
      weights[16 * group + i] = kE2m1[codes & 15] * scale;
      weights[16 * group + i + 8] = kE2m1[codes >> 4] * scale;
    }
  }
}

void decode_q1_0(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for (std::size_t i = 0; i < 128; ++i) weights[i] = (byte_at(block, 2 + i / 8) >> (i % 8) & 1) != 0 ? d : -d;
}

// The codes mean -1, 0, 1 and 2.
void decode_q2_0(const std::byte* block, float* weights) {
  const float d = half_at(block);
  for (std::size_t i = 0; i < 64; ++i) {
    const unsigned code = byte_at(block, 2 + i / 4) >> (2 * (i % 4)) & 3;
    weights[i] = static_cast<float>(static_cast<int>(code) - 1) * d;
  }
}

// The terms of the formulas.

Terms terms_q4_0(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return nibble(block + 2, i); })};
}
Terms terms_q4_1(const std::byte* block) {
  return {one("d", half_at(block)), one("m", half_at(block + 2)),
          each("q", 32, [&](std::size_t i) { return nibble(block + 4, i); })};
}
Terms terms_q5_0(const std::byte* block) {
  return {one("d", half_at(block)),
          each("q", 32, [&](std::size_t i) { return nibble(block + 6, i) | bit_of(block + 2, i) << 4; })};
}
Terms terms_q5_1(const std::byte* block) {
  return {one("d", half_at(block)), one("m", half_at(block + 2)),
          each("q", 32, [&](std::size_t i) { return nibble(block + 8, i) | bit_of(block + 4, i) << 4; })};
}
Terms terms_q8_0(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return signed_at(block + 2, i); })};
}
Terms terms_q8_1(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return signed_at(block + 4, i); })};
}
Terms terms_iq4_nl(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return nibble(block + 2, i); }),
          each("x", 32, [&](std::size_t i) { return kIq4[nibble(block + 2, i)]; })};
}
Terms terms_mxfp4(const std::byte* block) {
  return {one("e", 2.0 * half_e8m0(byte_at(block, 0))),
          each("q", 32, [&](std::size_t i) { return nibble(block + 1, i); }),
          each("x", 32, [&](std::size_t i) { return kE2m1[nibble(block + 1, i)]; })};
}
Terms terms_nvfp4(const std::byte* block) {
  const auto code = [&](std::size_t i) { return bits_at(block, 4 + 8 * (i / 16) + i % 8, i % 16 < 8 ? 0 : 4, 4); };
  return {each("scale", 64, [&](std::size_t i) { return ue4m3(byte_at(block, i / 16)); }), each("q", 64, code),
          each("x", 64, [&](std::size_t i) { return kE2m1[code(i)]; })};
}
Terms terms_q1_0(const std::byte* block) {
  return {one("d", half_at(block)), each("sign", 128, [&](std::size_t i) { return -sign_of(bit_of(block + 2, i)); })};
}
Terms terms_q2_0(const std::byte* block) {
  return {one("d", half_at(block)),
          each("q", 64, [&](std::size_t i) { return bits_at(block, 2 + i / 4, 2 * (i % 4), 2); })};
}

constexpr std::string_view kMinimum = "minimum of the block",
                           kHalves = "codes: weight i in the low half of byte i, weight i + 16 in the high half";

const BlockRules kSmallBlocks[] = {
    {Type::q4_0,
     decode_q4_0,
     "w = d (q - 8)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", kHalves, Kind::bits, 2, 16, 4}},
     terms_q4_0},
    {Type::q4_1,
     decode_q4_1,
     "w = d q + m",
     {{"d", kScale, Kind::f16, 0, 2}, {"m", kMinimum, Kind::f16, 2, 2}, {"qs", kHalves, Kind::bits, 4, 16, 4}},
     terms_q4_1},
    {Type::q5_0,
     decode_q5_0,
     "w = d (q - 16)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qh", kFifth, Kind::bits, 2, 4, 1}, {"qs", kHalves, Kind::bits, 6, 16, 4}},
     terms_q5_0},
    {Type::q5_1,
     decode_q5_1,
     "w = d q + m",
     {{"d", kScale, Kind::f16, 0, 2},
      {"m", kMinimum, Kind::f16, 2, 2},
      {"qh", kFifth, Kind::bits, 4, 4, 1},
      {"qs", kHalves, Kind::bits, 8, 16, 4}},
     terms_q5_1},
    {Type::q8_0,
     decode_q8_0,
     "w = d q",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", "codes", Kind::i8, 2, 32}},
     terms_q8_0},
    {Type::q8_1,
     decode_q8_1,
     "w = d q",
     {{"d", kScale, Kind::f16, 0, 2},
      {"s", "d times the sum of the codes", Kind::f16, 2, 2},
      {"qs", "codes", Kind::i8, 4, 32}},
     terms_q8_1},
    {Type::iq4_nl,
     decode_iq4_nl,
     "w = d x; x = table[q]",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", kTable, Kind::bits, 2, 16, 4}},
     terms_iq4_nl},
    {Type::mxfp4,
     decode_mxfp4,
     "w = e x; x is the 4-bit float q",
     {{"e", "exponent of the block", Kind::e8m0, 0, 1},
      {"qs", "4-bit floats (e2m1), two in a byte", Kind::bits, 1, 16, 4}},
     terms_mxfp4},
    {Type::nvfp4,
     decode_nvfp4,
     "w = scale x; x is the 4-bit float q",
     {{"d", "8-bit float scales of 16 weights each", Kind::e4m3, 0, 4},
      {"qs", "4-bit floats (e2m1), two in a byte", Kind::bits, 4, 32, 4}},
     terms_nvfp4},
    {Type::q1_0,
     decode_q1_0,
     "w = d sign",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", "signs", Kind::bits, 2, 16, 1}},
     terms_q1_0},
    {Type::q2_0,
     decode_q2_0,
     "w = d (q - 1)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", "codes, four in a byte", Kind::bits, 2, 16, 2}},
     terms_q2_0},
};

}  // namespace

std::span<const BlockRules> small_blocks() { return kSmallBlocks; }

}  // namespace tare::codec::ggml
