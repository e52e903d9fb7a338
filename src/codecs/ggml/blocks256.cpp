// Types with blocks of 256 weights. Scales are small integers for 16 or 32 weights each, multiplied by one or two f16.
#include "codecs/ggml/field_words.hpp"

namespace tare::codec::ggml {
namespace {

constexpr std::size_t kWeights = 256;

// The 2-bit code of weight i; it shares a byte with the weights 32, 64 and 96 further on.
unsigned crumb(const std::byte* codes, std::size_t i) {
  return byte_at(codes, 32 * (i / 128) + i % 32) >> (2 * (i % 128 / 32)) & 3;
}

// Shared by Q4_K and Q5_K: a scale and a minimum for each part of 32 weights. The low four bits of the codes are in the
// low or the high halves of 32 bytes; `high` returns the bits above them.
template <typename High>
void decode_halves(const std::byte* block, const std::byte* codes, float* weights, const High& high) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (std::size_t part = 0; part < 8; ++part) {
    const ScaleAndMinimum packed = k_scale(block + 4, part);
    const float scale = d * static_cast<float>(packed.scale), minimum = dmin * static_cast<float>(packed.minimum);
    for (std::size_t i = 0; i < 32; ++i) {
      const unsigned both = byte_at(codes, 32 * (part / 2) + i), low = part % 2 == 0 ? both & 15 : both >> 4;
      weights[32 * part + i] = scale * static_cast<float>(low | high(part, i)) - minimum;
    }
  }
}

void decode_q2_k(const std::byte* block, float* weights) {
  const float d = half_at(block + 80), dmin = half_at(block + 82);
  for (std::size_t part = 0; part < 16; ++part) {
    const unsigned both = byte_at(block, part);
    const float scale = d * static_cast<float>(both & 15), minimum = dmin * static_cast<float>(both >> 4);
    for (std::size_t i = 16 * part; i < 16 * part + 16; ++i)
      weights[i] = scale * static_cast<float>(crumb(block + 16, i)) - minimum;
  }
}

void decode_q3_k(const std::byte* block, float* weights) {
  const float d = half_at(block + 108);
  for (std::size_t part = 0; part < 16; ++part) {
    const float scale = d * static_cast<float>(q3_scale(block + 96, part));
    for (std::size_t i = 16 * part; i < 16 * part + 16; ++i) {
      // The third bit is set for codes >= 0.
      const bool high = (byte_at(block, i % 32) >> (i / 32) & 1) != 0;
      weights[i] = scale * static_cast<float>(static_cast<int>(crumb(block + 32, i)) - (high ? 0 : 4));
    }
  }
}

void decode_q4_k(const std::byte* block, float* weights) {
  decode_halves(block, block + 16, weights, [](std::size_t, std::size_t) { return 0U; });
}

void decode_q5_k(const std::byte* block, float* weights) {
  decode_halves(block, block + 48, weights,
                [&](std::size_t part, std::size_t i) { return (byte_at(block, 16 + i) >> part & 1) << 4; });
}

void decode_q6_k(const std::byte* block, float* weights) {
  const float d = half_at(block + 208);
  for (std::size_t part = 0; part < 16; ++part) {
    const float scale = d * static_cast<float>(signed_at(block + 192, part));
    for (std::size_t i = 16 * part; i < 16 * part + 16; ++i) {
      const std::size_t quarter = i % 128 / 32;
      const unsigned both = byte_at(block, 64 * (i / 128) + i % 32 + 32 * (quarter % 2));
      const unsigned low = quarter < 2 ? both & 15 : both >> 4;
      weights[i] = scale * static_cast<float>(static_cast<int>(low | crumb(block + 128, i) << 4) - 32);
    }
  }
}

// The block ends with sums of 16 codes each, which only products use.
void decode_q8_k(const std::byte* block, float* weights) {
  const auto d = load_le<float>(block);
  for (std::size_t i = 0; i < kWeights; ++i) weights[i] = d * static_cast<float>(signed_at(block + 4, i));
}

void decode_iq4_xs(const std::byte* block, float* weights) {
  const float d = half_at(block);
  const unsigned high = load_le<std::uint16_t>(block + 2);
  for (std::size_t part = 0; part < 8; ++part) {
    const unsigned low = byte_at(block, 4 + part / 2) >> (4 * (part % 2)) & 15;
    const float scale = d * static_cast<float>(static_cast<int>(low | (high >> (2 * part) & 3) << 4) - 32);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned codes = byte_at(block, 8 + 16 * part + i);
      weights[32 * part + i] = scale * kIq4[codes & 15];
      weights[32 * part + i + 16] = scale * kIq4[codes >> 4];
    }
  }
}

// A byte holds five codes (-1, 0, 1) as base-3 digits of a fraction of 256: multiplied by 3, the next digit is what
// overflows 8 bits. 48 bytes hold 240 codes, in a run of 32 bytes and one of 16; the last 4 bytes hold four codes each.
void decode_tq1_0(const std::byte* block, float* weights) {
  const float d = half_at(block + 52);
  const auto put = [&](std::size_t first, std::size_t run, std::size_t digits) {
    unsigned power = 1;
    for (std::size_t digit = 0; digit < digits; ++digit, power *= 3)
      for (std::size_t i = 0; i < run; ++i) {
        const unsigned rest = byte_at(block, first + i) * power & 255;
        *weights++ = static_cast<float>(static_cast<int>(rest * 3 >> 8) - 1) * d;
      }
  };
  put(0, 32, 5);
  put(32, 16, 5);
  put(48, 4, 4);
}

void decode_tq2_0(const std::byte* block, float* weights) {
  const float d = half_at(block + 64);
  for (std::size_t i = 0; i < kWeights; ++i) weights[i] = static_cast<float>(static_cast<int>(crumb(block, i)) - 1) * d;
}

// The terms of the formulas.

Terms terms_q2_k(const std::byte* block) {
  return {one("d", half_at(block + 80)), one("dmin", half_at(block + 82)),
          each("scale", 256, [&](std::size_t i) { return bits_at(block, i / 16, 0, 4); }),
          each("minimum", 256, [&](std::size_t i) { return bits_at(block, i / 16, 4, 4); }),
          each("q", 256, [&](std::size_t i) { return crumb(block + 16, i); })};
}
// The formula uses the stored scale; q3_scale subtracts 32.
Terms terms_q3_k(const std::byte* block) {
  return {one("d", half_at(block + 108)),
          each("scale", 256, [&](std::size_t i) { return q3_scale(block + 96, i / 16) + 32; }),
          each("q", 256, [&](std::size_t i) { return crumb(block + 32, i) | bits_at(block, i % 32, i / 32, 1) << 2; })};
}
Terms terms_k(const std::byte* block, const std::byte* codes, const std::byte* high) {
  return {one("d", half_at(block)), one("dmin", half_at(block + 2)),
          each("scale", 256, [&](std::size_t i) { return k_scale(block + 4, i / 32).scale; }),
          each("minimum", 256, [&](std::size_t i) { return k_scale(block + 4, i / 32).minimum; }),
          each("q", 256, [&](std::size_t i) {
            const unsigned low = bits_at(codes, 32 * (i / 64) + i % 32, 4 * (i / 32 % 2), 4);
            return high == nullptr ? low : low | bits_at(high, i % 32, i / 32, 1) << 4;
          })};
}
Terms terms_q4_k(const std::byte* block) { return terms_k(block, block + 16, nullptr); }
Terms terms_q5_k(const std::byte* block) { return terms_k(block, block + 48, block + 16); }
Terms terms_q6_k(const std::byte* block) {
  return {one("d", half_at(block + 208)),
          each("scale", 256, [&](std::size_t i) { return signed_at(block + 192, i / 16); }),
          each("q", 256, [&](std::size_t i) {
            const std::size_t quarter = i % 128 / 32, at = 64 * (i / 128) + i % 32 + 32 * (quarter % 2);
            return bits_at(block, at, quarter < 2 ? 0 : 4, 4) | crumb(block + 128, i) << 4;
          })};
}
Terms terms_q8_k(const std::byte* block) {
  return {one("d", load_le<float>(block)), each("q", 256, [&](std::size_t i) { return signed_at(block + 4, i); })};
}
Terms terms_iq4_xs(const std::byte* block) {
  const auto code = [&](std::size_t i) { return nibble(block + 8 + 16 * (i / 32), i % 32); };
  return {one("d", half_at(block)),
          each("scale", 256,
               [&](std::size_t i) {
                 const std::size_t part = i / 32;
                 return bits_at(block, 4 + part / 2, 4 * (part % 2), 4) |
                        bits_at(block, 2 + part / 4, 2 * (part % 4), 2) << 4;
               }),
          each("q", 256, code), each("x", 256, [&](std::size_t i) { return kIq4[code(i)]; })};
}
// The digits are in order: the first digits of all bytes of a run, then their second digits, and so on.
Terms terms_tq1_0(const std::byte* block) {
  return {one("d", half_at(block + 52)), each("q", 256, [&](std::size_t i) {
            const std::size_t first = i < 160 ? 0 : i < 240 ? 32 : 48, run = i < 160 ? 32 : i < 240 ? 16 : 4;
            const std::size_t in_run = i - (i < 160 ? 0 : i < 240 ? 160 : 240);
            unsigned rest = byte_at(block, first + in_run % run);
            for (std::size_t digit = 0; digit < in_run / run; ++digit) rest = rest * 3 & 255;
            return rest * 3 >> 8;
          })};
}
Terms terms_tq2_0(const std::byte* block) {
  return {one("d", half_at(block + 64)), each("q", 256, [&](std::size_t i) { return crumb(block, i); })};
}

constexpr std::string_view kSuperMinimum = "scale of the minimums",
                           kPacked = "6-bit scales and minimums of 8 parts of 32 weights, packed",
                           kCrumbs = "2 bits of a code: weights i, i + 32, i + 64, i + 96 share a byte";

const BlockRules kSuperBlocks[] = {
    {Type::q2_k,
     decode_q2_k,
     "w = d scale q - dmin minimum",
     {{"scales", "for 16 weights each: scale in the low half, minimum in the high half", Kind::bits, 0, 16, 4},
      {"qs", kCrumbs, Kind::bits, 16, 64, 2},
      {"d", kSuper, Kind::f16, 80, 2},
      {"dmin", kSuperMinimum, Kind::f16, 82, 2}},
     terms_q2_k},
    {Type::q3_k,
     decode_q3_k,
     "w = d (scale - 32) (q - 4)",
     {{"hmask", "the third bit of each code", Kind::bits, 0, 32, 1},
      {"qs", kCrumbs, Kind::bits, 32, 64, 2},
      {"scales", "6-bit scales of 16 parts of 16 weights, packed", Kind::bits, 96, 12},
      {"d", kSuper, Kind::f16, 108, 2}},
     terms_q3_k},
    {Type::q4_k,
     decode_q4_k,
     "w = d scale q - dmin minimum",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"dmin", kSuperMinimum, Kind::f16, 2, 2},
      {"scales", kPacked, Kind::bits, 4, 12},
      {"qs", "codes: two parts of 32 weights share 32 bytes", Kind::bits, 16, 128, 4}},
     terms_q4_k},
    {Type::q5_k,
     decode_q5_k,
     "w = d scale q - dmin minimum",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"dmin", kSuperMinimum, Kind::f16, 2, 2},
      {"scales", kPacked, Kind::bits, 4, 12},
      {"qh", kFifth, Kind::bits, 16, 32, 1},
      {"qs", "low four bits of the codes: two parts of 32 weights share 32 bytes", Kind::bits, 48, 128, 4}},
     terms_q5_k},
    {Type::q6_k,
     decode_q6_k,
     "w = d scale (q - 32)",
     {{"ql", "low four bits of the codes", Kind::bits, 0, 128, 4},
      {"qh", "high two bits of the codes", Kind::bits, 128, 64, 2},
      {"scales", "of 16 weights each", Kind::i8, 192, 16},
      {"d", kSuper, Kind::f16, 208, 2}},
     terms_q6_k},
    {Type::q8_k,
     decode_q8_k,
     "w = d q",
     {{"d", kScale, Kind::f32, 0, 4},
      {"qs", "codes", Kind::i8, 4, 256},
      {"bsums", "sums of 16 codes each", Kind::i16, 260, 32}},
     terms_q8_k},
    {Type::iq4_xs,
     decode_iq4_xs,
     "w = d (scale - 32) x; x = table[q]",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"scales_h", "high two bits of 8 scales", Kind::bits, 2, 2, 2},
      {"scales_l", "low four bits of 8 scales", Kind::bits, 4, 4, 4},
      {"qs", kTable, Kind::bits, 8, 128, 4}},
     terms_iq4_xs},
    {Type::tq1_0,
     decode_tq1_0,
     "w = d (q - 1)",
     {{"qs", "five digits to the base of 3 in a byte", Kind::bits, 0, 48},
      {"qh", "four digits to the base of 3 in a byte", Kind::bits, 48, 4},
      {"d", kScale, Kind::f16, 52, 2}},
     terms_tq1_0},
    {Type::tq2_0,
     decode_tq2_0,
     "w = d (q - 1)",
     {{"qs", kCrumbs, Kind::bits, 0, 64, 2}, {"d", kScale, Kind::f16, 64, 2}},
     terms_tq2_0},
};

}  // namespace

std::span<const BlockRules> super_blocks() { return kSuperBlocks; }

}  // namespace tare::codec::ggml
