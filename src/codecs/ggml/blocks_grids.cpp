// Types with blocks of 256 weights whose codes are codewords for four or eight weights at once.
#include "codecs/ggml/field_words.hpp"
#include "codecs/ggml/grids.hpp"

namespace tare::codec::ggml {
namespace {

// Calls decode(eighth, weights) for each eighth of a block: 32 weights.
template <typename Decode>
void for_eighths(float* out, const Decode& decode) {
  for (std::size_t eighth = 0; eighth < 8; ++eighth) decode(eighth, out + 32 * eighth);
}

// Decodes a codeword; a set bit of `signs` makes the value negative.
template <typename Word>
void put_signed(Word codeword, unsigned signs, float scale, float* weights) {
  for (std::size_t j = 0; j < sizeof(Word); ++j)
    weights[j] = scale * static_cast<float>(codeword >> (8 * j) & 255) * ((signs >> j & 1) != 0 ? -1.0F : 1.0F);
}

void put_shifted(std::uint64_t codeword, float delta, float scale, float* weights) {
  for (std::size_t j = 0; j < 8; ++j) {
    const auto eight = static_cast<std::int8_t>(codeword >> (8 * j) & 255);
    weights[j] = scale * (static_cast<float>(eight) / 8 + delta);
  }
}

float half_up(float d, unsigned scale, float factor) { return d * (0.5F + static_cast<float>(scale)) * factor; }
float odd(float d, unsigned scale) { return d * static_cast<float>(2 * scale + 1); }

void decode_iq2_xxs(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const std::byte* const at = block + 2 + 8 * eighth;
    const auto rest = load_le<std::uint32_t>(at + 4);
    const float scale = half_up(half_at(block), rest >> 28, 0.25F);
    for (std::size_t l = 0; l < 4; ++l)
      put_signed(kIq2XxsGrid[byte_at(at, l)], even_signs(rest >> (7 * l) & 127), scale, weights + 8 * l);
  });
}

void decode_iq2_xs(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const unsigned scales = byte_at(block, 66 + eighth);
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = load_le<std::uint16_t>(block + 2 + 8 * eighth + 2 * l);
      const float scale = half_up(half_at(block), scales >> (4 * (l / 2)) & 15, 0.25F);
      put_signed(kIq2XsGrid[code & 511], even_signs(code >> 9), scale, weights + 8 * l);
    }
  });
}

void decode_iq2_s(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const unsigned scales = byte_at(block, 74 + eighth), high = byte_at(block, 66 + eighth);
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = byte_at(block, 2 + 4 * eighth + l) | (high >> (2 * l) & 3) << 8;
      const float scale = half_up(half_at(block), scales >> (4 * (l / 2)) & 15, 0.25F);
      put_signed(kIq2SGrid[code], byte_at(block, 34 + 4 * eighth + l), scale, weights + 8 * l);
    }
  });
}

void decode_iq3_xxs(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const auto rest = load_le<std::uint32_t>(block + 66 + 4 * eighth);
    const float scale = half_up(half_at(block), rest >> 28, 0.5F);
    for (std::size_t l = 0; l < 8; ++l) {
      const unsigned signs = even_signs(rest >> (7 * (l / 2)) & 127);
      put_signed(kIq3XxsGrid[byte_at(block, 2 + 8 * eighth + l)], signs >> (4 * (l % 2)), scale, weights + 4 * l);
    }
  });
}

void decode_iq3_s(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const unsigned high = byte_at(block, 66 + eighth);
    const float scale = odd(half_at(block), byte_at(block, 106 + eighth / 2) >> (4 * (eighth % 2)) & 15);
    for (std::size_t l = 0; l < 8; ++l) {
      const unsigned code = byte_at(block, 2 + 8 * eighth + l) | (high >> l & 1) << 8;
      const unsigned signs = byte_at(block, 74 + 4 * eighth + l / 2);
      put_signed(kIq3SGrid[code], signs >> (4 * (l % 2)), scale, weights + 4 * l);
    }
  });
}

void decode_iq1_s(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const unsigned high = load_le<std::uint16_t>(block + 34 + 2 * eighth);
    const float scale = odd(half_at(block), high >> 12 & 7), delta = (high & 0x8000) != 0 ? -0.125F : 0.125F;
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned code = byte_at(block, 2 + 4 * eighth + l) | (high >> (3 * l) & 7) << 8;
      put_shifted(kIq1Grid[code], delta, scale, weights + 8 * l);
    }
  });
}

void decode_iq1_m(const std::byte* block, float* out) {
  for_eighths(out, [&](std::size_t eighth, float* weights) {
    const float d = iq1_m_half(block);
    const unsigned scales = load_le<std::uint16_t>(block + 48 + 2 * (eighth / 2)) >> (6 * (eighth % 2));
    for (std::size_t l = 0; l < 4; ++l) {
      const unsigned high = byte_at(block, 32 + 2 * eighth + l / 2) >> (4 * (l % 2));
      const unsigned code = byte_at(block, 4 * eighth + l) | (high & 7) << 8;
      put_shifted(kIq1Grid[code], (high & 8) != 0 ? -0.125F : 0.125F, odd(d, scales >> (3 * (l / 2)) & 7),
                  weights + 8 * l);
    }
  });
}

// The terms of the formulas.

// Codewords for 8 or 4 weights. word(group), signs(group) and scale(group) return the parts of each.
template <typename Word, typename Signs, typename Scale>
Terms terms_signed(double d, std::size_t together, const Word& word, const Signs& signs, const Scale& scale) {
  return {one("d", d), each("scale", 256, [&](std::size_t i) { return scale(i / together); }),
          each("sign", 256, [&](std::size_t i) { return sign_of(signs(i / together) >> (i % together) & 1); }),
          each("codeword", 256, [&](std::size_t i) { return word(i / together) >> (8 * (i % together)) & 255; })};
}
Terms terms_iq2_xxs(const std::byte* block) {
  const auto rest = [&](std::size_t g) { return load_le<std::uint32_t>(block + 2 + 8 * (g / 4) + 4); };
  return terms_signed(
      half_at(block), 8, [&](std::size_t g) { return kIq2XxsGrid[byte_at(block, 2 + 8 * (g / 4) + g % 4)]; },
      [&](std::size_t g) { return even_signs(rest(g) >> (7 * (g % 4)) & 127); },
      [&](std::size_t g) { return rest(g) >> 28; });
}
Terms terms_iq2_xs(const std::byte* block) {
  const auto code = [&](std::size_t g) { return static_cast<unsigned>(load_le<std::uint16_t>(block + 2 + 2 * g)); };
  return terms_signed(
      half_at(block), 8, [&](std::size_t g) { return kIq2XsGrid[code(g) & 511]; },
      [&](std::size_t g) { return even_signs(code(g) >> 9); },
      [&](std::size_t g) { return bits_at(block, 66 + g / 4, 4 * (g % 4 / 2), 4); });
}
Terms terms_iq2_s(const std::byte* block) {
  return terms_signed(
      half_at(block), 8,
      [&](std::size_t g) { return kIq2SGrid[byte_at(block, 2 + g) | bits_at(block, 66 + g / 4, 2 * (g % 4), 2) << 8]; },
      [&](std::size_t g) { return byte_at(block, 34 + g); },
      [&](std::size_t g) { return bits_at(block, 74 + g / 4, 4 * (g % 4 / 2), 4); });
}
Terms terms_iq3_xxs(const std::byte* block) {
  const auto rest = [&](std::size_t g) { return load_le<std::uint32_t>(block + 66 + 4 * (g / 8)); };
  return terms_signed(
      half_at(block), 4, [&](std::size_t g) { return kIq3XxsGrid[byte_at(block, 2 + g)]; },
      [&](std::size_t g) { return even_signs(rest(g) >> (7 * (g % 8 / 2)) & 127) >> (4 * (g % 2)); },
      [&](std::size_t g) { return rest(g) >> 28; });
}
Terms terms_iq3_s(const std::byte* block) {
  return terms_signed(
      half_at(block), 4, [&](std::size_t g) { return kIq3SGrid[byte_at(block, 2 + g) | bit_of(block + 66, g) << 8]; },
      [&](std::size_t g) { return bits_at(block, 74 + g / 2, 4 * (g % 2), 4); },
      [&](std::size_t g) { return bits_at(block, 106 + g / 16, 4 * (g / 8 % 2), 4); });
}
// Shifted codewords: `high(group)` returns three more bits of the codeword's number, then the sign of the shift.
template <typename High, typename Scale>
Terms terms_shifted(double d, const std::byte* words, const High& high, const Scale& scale) {
  return {one("d", d), each("scale", 256, [&](std::size_t i) { return scale(i / 8); }),
          each("codeword", 256,
               [&](std::size_t i) {
                 const std::uint64_t word = kIq1Grid[byte_at(words, i / 8) | (high(i / 8) & 7) << 8];
                 return static_cast<double>(static_cast<std::int8_t>(word >> (8 * (i % 8)) & 255)) / 8;
               }),
          each("delta", 256, [&](std::size_t i) { return sign_of(high(i / 8) & 8) / 8; })};
}
Terms terms_iq1_s(const std::byte* block) {
  const auto all = [&](std::size_t g) {
    return static_cast<unsigned>(load_le<std::uint16_t>(block + 34 + 2 * (g / 4)));
  };
  return terms_shifted(
      half_at(block), block + 2, [&](std::size_t g) { return (all(g) >> (3 * (g % 4)) & 7) | all(g) >> 15 << 3; },
      [&](std::size_t g) { return all(g) >> 12 & 7; });
}
Terms terms_iq1_m(const std::byte* block) {
  return terms_shifted(
      iq1_m_half(block), block, [&](std::size_t g) { return bits_at(block, 32 + g / 2, 4 * (g % 2), 4); },
      [&](std::size_t g) {
        return static_cast<unsigned>(load_le<std::uint16_t>(block + 48 + 2 * (g / 8))) >> (3 * (g % 8 / 2)) & 7;
      });
}

constexpr std::string_view kGrid = "numbers of codewords", kGridHigh = "higher bits of the codewords' numbers",
                           kGridScales = "scales of parts, 4 bits each", kSigns = "signs, a bit for each weight",
                           kQuarters = "w = d sign codeword (scale + 1/2) / 4";

const BlockRules kGridBlocks[] = {
    {Type::iq2_xxs,
     decode_iq2_xxs,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", "for 32 weights each: four 8-bit codewords, then signs of 7 bits and a scale of 4", Kind::bits, 2, 64}},
     terms_iq2_xxs},
    {Type::iq2_xs,
     decode_iq2_xs,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", "9-bit codewords with 7 bits of signs", Kind::bits, 2, 64, 16},
      {"scales", kGridScales, Kind::bits, 66, 8, 4}},
     terms_iq2_xs},
    {Type::iq2_s,
     decode_iq2_s,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 32},
      {"signs", kSigns, Kind::bits, 34, 32, 1},
      {"qh", kGridHigh, Kind::bits, 66, 8, 2},
      {"scales", kGridScales, Kind::bits, 74, 8, 4}},
     terms_iq2_s},
    {Type::iq3_xxs,
     decode_iq3_xxs,
     "w = d sign codeword (scale + 1/2) / 2",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 64},
      {"gas", "for 32 weights each: signs of 7 bits and a scale of 4", Kind::bits, 66, 32, 32}},
     terms_iq3_xxs},
    {Type::iq3_s,
     decode_iq3_s,
     "w = d sign codeword (2 scale + 1)",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 64},
      {"qh", kGridHigh, Kind::bits, 66, 8, 1},
      {"signs", kSigns, Kind::bits, 74, 32, 1},
      {"scales", kGridScales, Kind::bits, 106, 4, 4}},
     terms_iq3_s},
    {Type::iq1_s,
     decode_iq1_s,
     "w = d (2 scale + 1) (codeword + delta)",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 32},
      {"qh", "higher bits of codewords, a 3-bit scale and the sign of delta, for 32 weights each", Kind::bits, 34, 16,
       16}},
     terms_iq1_s},
    {Type::iq1_m,
     decode_iq1_m,
     "w = d (2 scale + 1) (codeword + delta)",
     {{"qs", kGrid, Kind::u8, 0, 32},
      {"qh", "higher bits of codewords and the signs of delta", Kind::bits, 32, 16, 4},
      {"scales", "3-bit scales of 16 weights each, and in the high bits the scale d as f16", Kind::bits, 48, 8}},
     terms_iq1_m},
};

}  // namespace

std::span<const BlockRules> grid_blocks() { return kGridBlocks; }

}  // namespace tare::codec::ggml
