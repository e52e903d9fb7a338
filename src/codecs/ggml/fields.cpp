// Describes the fields of ggml's blocks for the viewer; blocks32.cpp, blocks256.cpp and blocks_grids.cpp decode them.
#include <algorithm>
#include <initializer_list>

#include "codecs/first_block.hpp"
#include "codecs/ggml/grids.hpp"
#include "codecs/ggml/parts.hpp"

namespace tare::codec::ggml {
namespace {

constexpr std::string_view kScale = "scale of the block", kMinimum = "minimum of the block",
                           kHalves = "codes: weight i in the low half of byte i, weight i + 16 in the high half",
                           kSuper = "scale of the scales", kSuperMinimum = "scale of the minimums",
                           kPacked = "6-bit scales and minimums of 8 parts of 32 weights, packed",
                           kCrumbs = "2 bits of a code: weights i, i + 32, i + 64, i + 96 share a byte",
                           kFifth = "the fifth bit of each code", kGrid = "numbers of codewords",
                           kGridHigh = "higher bits of the codewords' numbers",
                           kGridScales = "scales of parts, 4 bits each", kSigns = "signs, a bit for each weight",
                           kTable = "numbers of a table of 16 values, two in a byte",
                           kQuarters = "w = d sign codeword (scale + 1/2) / 4";

struct Description {
  std::string_view layout;
  std::uint64_t weights;
  std::string_view formula;
  std::initializer_list<BlockField> fields;
  std::vector<BlockTerm> (*terms)(const std::byte* block);
};

using Kind = FieldKind;

using Terms = std::vector<BlockTerm>;

// A term with one value per weight.
template <typename Of>
BlockTerm each(std::string_view name, std::size_t weights, const Of& of) {
  BlockTerm term{name, std::vector<double>(weights)};
  for (std::size_t i = 0; i < weights; ++i) term.values[i] = static_cast<double>(of(i));
  return term;
}
BlockTerm one(std::string_view name, double value) { return {name, {value}}; }

// `count` bits of the byte at `at`, from `shift` on.
unsigned bits_at(const std::byte* bytes, std::size_t at, std::size_t shift, unsigned count) {
  return byte_at(bytes, at) >> shift & ((1U << count) - 1);
}
// The code of weight i: 4 bits, in blocks of 32; and 2 bits, in blocks of 256.
unsigned half_of(const std::byte* codes, std::size_t i) { return bits_at(codes, i % 16, i < 16 ? 0 : 4, 4); }
unsigned crumb_of(const std::byte* codes, std::size_t i) {
  return bits_at(codes, 32 * (i / 128) + i % 32, 2 * (i % 128 / 32), 2);
}
unsigned bit_of(const std::byte* bits, std::size_t i) { return bits_at(bits, i / 8, i % 8, 1); }
double sign_of(unsigned bit) { return bit != 0 ? -1 : 1; }

Terms terms_q4_0(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return half_of(block + 2, i); })};
}
Terms terms_q4_1(const std::byte* block) {
  return {one("d", half_at(block)), one("m", half_at(block + 2)),
          each("q", 32, [&](std::size_t i) { return half_of(block + 4, i); })};
}
Terms terms_q5_0(const std::byte* block) {
  return {one("d", half_at(block)),
          each("q", 32, [&](std::size_t i) { return half_of(block + 6, i) | bit_of(block + 2, i) << 4; })};
}
Terms terms_q5_1(const std::byte* block) {
  return {one("d", half_at(block)), one("m", half_at(block + 2)),
          each("q", 32, [&](std::size_t i) { return half_of(block + 8, i) | bit_of(block + 4, i) << 4; })};
}
Terms terms_q8_0(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return signed_at(block + 2, i); })};
}
Terms terms_q8_1(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return signed_at(block + 4, i); })};
}
Terms terms_q2_k(const std::byte* block) {
  return {one("d", half_at(block + 80)), one("dmin", half_at(block + 82)),
          each("scale", 256, [&](std::size_t i) { return bits_at(block, i / 16, 0, 4); }),
          each("minimum", 256, [&](std::size_t i) { return bits_at(block, i / 16, 4, 4); }),
          each("q", 256, [&](std::size_t i) { return crumb_of(block + 16, i); })};
}
// The formula uses the stored scale; q3_scale subtracts 32.
Terms terms_q3_k(const std::byte* block) {
  return {
      one("d", half_at(block + 108)),
      each("scale", 256, [&](std::size_t i) { return q3_scale(block + 96, i / 16) + 32; }),
      each("q", 256, [&](std::size_t i) { return crumb_of(block + 32, i) | bits_at(block, i % 32, i / 32, 1) << 2; })};
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
            return bits_at(block, at, quarter < 2 ? 0 : 4, 4) | crumb_of(block + 128, i) << 4;
          })};
}
Terms terms_q8_k(const std::byte* block) {
  return {one("d", load_le<float>(block)), each("q", 256, [&](std::size_t i) { return signed_at(block + 4, i); })};
}
Terms terms_iq4_nl(const std::byte* block) {
  return {one("d", half_at(block)), each("q", 32, [&](std::size_t i) { return half_of(block + 2, i); }),
          each("x", 32, [&](std::size_t i) { return kIq4[half_of(block + 2, i)]; })};
}
Terms terms_iq4_xs(const std::byte* block) {
  const auto code = [&](std::size_t i) { return half_of(block + 8 + 16 * (i / 32), i % 32); };
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
  return {one("d", half_at(block + 64)), each("q", 256, [&](std::size_t i) { return crumb_of(block, i); })};
}
Terms terms_mxfp4(const std::byte* block) {
  return {one("e", 2.0 * half_e8m0(byte_at(block, 0))),
          each("q", 32, [&](std::size_t i) { return half_of(block + 1, i); }),
          each("x", 32, [&](std::size_t i) { return kE2m1[half_of(block + 1, i)]; })};
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

const Description kDescriptions[] = {
    {"ggml.q4_0",
     32,
     "w = d (q - 8)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", kHalves, Kind::bits, 2, 16, 4}},
     terms_q4_0},
    {"ggml.q4_1",
     32,
     "w = d q + m",
     {{"d", kScale, Kind::f16, 0, 2}, {"m", kMinimum, Kind::f16, 2, 2}, {"qs", kHalves, Kind::bits, 4, 16, 4}},
     terms_q4_1},
    {"ggml.q5_0",
     32,
     "w = d (q - 16)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qh", kFifth, Kind::bits, 2, 4, 1}, {"qs", kHalves, Kind::bits, 6, 16, 4}},
     terms_q5_0},
    {"ggml.q5_1",
     32,
     "w = d q + m",
     {{"d", kScale, Kind::f16, 0, 2},
      {"m", kMinimum, Kind::f16, 2, 2},
      {"qh", kFifth, Kind::bits, 4, 4, 1},
      {"qs", kHalves, Kind::bits, 8, 16, 4}},
     terms_q5_1},
    {"ggml.q8_0", 32, "w = d q", {{"d", kScale, Kind::f16, 0, 2}, {"qs", "codes", Kind::i8, 2, 32}}, terms_q8_0},
    {"ggml.q8_1",
     32,
     "w = d q",
     {{"d", kScale, Kind::f16, 0, 2},
      {"s", "d times the sum of the codes", Kind::f16, 2, 2},
      {"qs", "codes", Kind::i8, 4, 32}},
     terms_q8_1},
    {"ggml.q2_k",
     256,
     "w = d scale q - dmin minimum",
     {{"scales", "for 16 weights each: scale in the low half, minimum in the high half", Kind::bits, 0, 16, 4},
      {"qs", kCrumbs, Kind::bits, 16, 64, 2},
      {"d", kSuper, Kind::f16, 80, 2},
      {"dmin", kSuperMinimum, Kind::f16, 82, 2}},
     terms_q2_k},
    {"ggml.q3_k",
     256,
     "w = d (scale - 32) (q - 4)",
     {{"hmask", "the third bit of each code", Kind::bits, 0, 32, 1},
      {"qs", kCrumbs, Kind::bits, 32, 64, 2},
      {"scales", "6-bit scales of 16 parts of 16 weights, packed", Kind::bits, 96, 12},
      {"d", kSuper, Kind::f16, 108, 2}},
     terms_q3_k},
    {"ggml.q4_k",
     256,
     "w = d scale q - dmin minimum",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"dmin", kSuperMinimum, Kind::f16, 2, 2},
      {"scales", kPacked, Kind::bits, 4, 12},
      {"qs", "codes: two parts of 32 weights share 32 bytes", Kind::bits, 16, 128, 4}},
     terms_q4_k},
    {"ggml.q5_k",
     256,
     "w = d scale q - dmin minimum",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"dmin", kSuperMinimum, Kind::f16, 2, 2},
      {"scales", kPacked, Kind::bits, 4, 12},
      {"qh", kFifth, Kind::bits, 16, 32, 1},
      {"qs", "low four bits of the codes: two parts of 32 weights share 32 bytes", Kind::bits, 48, 128, 4}},
     terms_q5_k},
    {"ggml.q6_k",
     256,
     "w = d scale (q - 32)",
     {{"ql", "low four bits of the codes", Kind::bits, 0, 128, 4},
      {"qh", "high two bits of the codes", Kind::bits, 128, 64, 2},
      {"scales", "of 16 weights each", Kind::i8, 192, 16},
      {"d", kSuper, Kind::f16, 208, 2}},
     terms_q6_k},
    {"ggml.q8_k",
     256,
     "w = d q",
     {{"d", kScale, Kind::f32, 0, 4},
      {"qs", "codes", Kind::i8, 4, 256},
      {"bsums", "sums of 16 codes each", Kind::i16, 260, 32}},
     terms_q8_k},
    {"ggml.iq4_nl",
     32,
     "w = d x; x = table[q]",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", kTable, Kind::bits, 2, 16, 4}},
     terms_iq4_nl},
    {"ggml.iq4_xs",
     256,
     "w = d (scale - 32) x; x = table[q]",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"scales_h", "high two bits of 8 scales", Kind::bits, 2, 2, 2},
      {"scales_l", "low four bits of 8 scales", Kind::bits, 4, 4, 4},
      {"qs", kTable, Kind::bits, 8, 128, 4}},
     terms_iq4_xs},
    {"ggml.tq1_0",
     256,
     "w = d (q - 1)",
     {{"qs", "five digits to the base of 3 in a byte", Kind::bits, 0, 48},
      {"qh", "four digits to the base of 3 in a byte", Kind::bits, 48, 4},
      {"d", kScale, Kind::f16, 52, 2}},
     terms_tq1_0},
    {"ggml.tq2_0",
     256,
     "w = d (q - 1)",
     {{"qs", kCrumbs, Kind::bits, 0, 64, 2}, {"d", kScale, Kind::f16, 64, 2}},
     terms_tq2_0},
    {"ggml.mxfp4",
     32,
     "w = e x; x is the 4-bit float q",
     {{"e", "exponent of the block", Kind::e8m0, 0, 1},
      {"qs", "4-bit floats (e2m1), two in a byte", Kind::bits, 1, 16, 4}},
     terms_mxfp4},
    {"ggml.nvfp4",
     64,
     "w = scale x; x is the 4-bit float q",
     {{"d", "8-bit float scales of 16 weights each", Kind::e4m3, 0, 4},
      {"qs", "4-bit floats (e2m1), two in a byte", Kind::bits, 4, 32, 4}},
     terms_nvfp4},
    {"ggml.q1_0",
     128,
     "w = d sign",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", "signs", Kind::bits, 2, 16, 1}},
     terms_q1_0},
    {"ggml.q2_0",
     64,
     "w = d (q - 1)",
     {{"d", kScale, Kind::f16, 0, 2}, {"qs", "codes, four in a byte", Kind::bits, 2, 16, 2}},
     terms_q2_0},
    {"ggml.iq2_xxs",
     256,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", "for 32 weights each: four 8-bit codewords, then signs of 7 bits and a scale of 4", Kind::bits, 2, 64}},
     terms_iq2_xxs},
    {"ggml.iq2_xs",
     256,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", "9-bit codewords with 7 bits of signs", Kind::bits, 2, 64, 16},
      {"scales", kGridScales, Kind::bits, 66, 8, 4}},
     terms_iq2_xs},
    {"ggml.iq2_s",
     256,
     kQuarters,
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 32},
      {"signs", kSigns, Kind::bits, 34, 32, 1},
      {"qh", kGridHigh, Kind::bits, 66, 8, 2},
      {"scales", kGridScales, Kind::bits, 74, 8, 4}},
     terms_iq2_s},
    {"ggml.iq3_xxs",
     256,
     "w = d sign codeword (scale + 1/2) / 2",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 64},
      {"gas", "for 32 weights each: signs of 7 bits and a scale of 4", Kind::bits, 66, 32, 32}},
     terms_iq3_xxs},
    {"ggml.iq3_s",
     256,
     "w = d sign codeword (2 scale + 1)",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 64},
      {"qh", kGridHigh, Kind::bits, 66, 8, 1},
      {"signs", kSigns, Kind::bits, 74, 32, 1},
      {"scales", kGridScales, Kind::bits, 106, 4, 4}},
     terms_iq3_s},
    {"ggml.iq1_s",
     256,
     "w = d (2 scale + 1) (codeword + delta)",
     {{"d", kSuper, Kind::f16, 0, 2},
      {"qs", kGrid, Kind::u8, 2, 32},
      {"qh", "higher bits of codewords, a 3-bit scale and the sign of delta, for 32 weights each", Kind::bits, 34, 16,
       16}},
     terms_iq1_s},
    {"ggml.iq1_m",
     256,
     "w = d (2 scale + 1) (codeword + delta)",
     {{"qs", kGrid, Kind::u8, 0, 32},
      {"qh", "higher bits of codewords and the signs of delta", Kind::bits, 32, 16, 4},
      {"scales", "3-bit scales of 16 weights each, and in the high bits the scale d as f16", Kind::bits, 48, 8}},
     terms_iq1_m},
};

}  // namespace

std::optional<FirstBlock> explain(const Tensor& tensor) {
  const auto* const found = std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                                         [&](const Description& row) { return row.layout == tensor.layout; });
  if (found == std::end(kDescriptions)) return std::nullopt;
  FirstBlock block{found->weights, found->formula, found->fields};
  BlockField all;
  for (const BlockField& field : block.fields) all.bytes += field.bytes;
  const Bytes bytes = bytes_of(tensor.components[0], all);
  block.terms = found->terms(bytes.data());
  return block;
}

}  // namespace tare::codec::ggml
