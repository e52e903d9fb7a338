// The candidates that each type tries, and how its codes and scales are arranged in a block.
#include "codecs/ggml/encode.hpp"

#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "codecs/ggml/encode_words.hpp"

namespace tare::codec::ggml {
namespace {

// `count` multiples of `code`, from `first` on. 1 maps the extreme weight to that code; more than 1 clips it.
template <std::size_t kCount>
constexpr std::array<float, kCount> multiples(float code, float first, float step) {
  std::array<float, kCount> steps{};
  for (std::size_t i = 0; i < kCount; ++i) steps[i] = code * (first + static_cast<float>(i) * step);
  return steps;
}

template <std::size_t kFirst, std::size_t kSecond>
constexpr std::array<float, kFirst + kSecond> joined(const std::array<float, kFirst>& first,
                                                     const std::array<float, kSecond>& second) {
  std::array<float, kFirst + kSecond> all{};
  std::copy(first.begin(), first.end(), all.begin());
  std::copy(second.begin(), second.end(), all.begin() + kFirst);
  return all;
}

constexpr std::array<float, kDivisors> divisors(float first, float step) {
  std::array<float, kDivisors> all{};
  for (std::size_t i = 0; i < kDivisors; ++i) all[i] = first - static_cast<float>(i) * step;
  return all;
}
constexpr std::array<float, kDivisors> signed_divisors(float lowest, float highest, float step) {
  std::array<float, kDivisors> all{};
  for (std::size_t i = 0; i < kDivisors / 2; ++i) {
    all[2 * i] = lowest + static_cast<float>(i) * step;
    all[2 * i + 1] = highest - static_cast<float>(i) * step;
  }
  return all;
}

// Every pair of shares at the lower and the upper end.
template <std::size_t kCount>
constexpr std::array<Trim, kCount * kCount> trims(float first, float step) {
  std::array<Trim, kCount * kCount> all{};
  for (std::size_t i = 0; i < kCount * kCount; ++i)
    all[i] = trim(first + static_cast<float>(i / kCount) * step, first + static_cast<float>(i % kCount) * step);
  return all;
}

// Chosen by experiments with Gaussian, Laplace and Student-t weights: more candidates gained hardly anything.
// 16 candidates would save 1 % more
constexpr auto kQ4_0Steps = std::array<float, 4>{-8 * 0.92F, -8, -8 * 1.1F, 7 * 1.05F};
constexpr auto kQ5_0Steps = joined(multiples<6>(-16, 0.88F, 0.04F), multiples<2>(15, 0.95F, 0.07F));
constexpr auto kQ8_0Steps = multiples<8>(127, 0.93F, 0.01F);
constexpr auto kQ6KSteps = multiples<16>(-32, 0.84F, 0.0125F);
constexpr auto kQ3KSteps = joined(multiples<6>(-4, 0.9F, 0.1F), multiples<6>(3, 0.95F, 0.12F));
constexpr auto kIq4Steps = joined(multiples<6>(-127, 0.85F, 0.05F), multiples<6>(113, 0.86F, 0.05F));
constexpr auto kFourBitTrims = trims<4>(-0.02F, 0.02F);
constexpr auto kFiveBitTrims = trims<4>(-0.014F, 0.012F);
constexpr auto kTwoBitTrims = trims<4>(-0.03F, 0.05F);

constexpr Spec kQ4_0Spec = {.lowest = -8, .highest = 7, .fast = -8, .steps = kQ4_0Steps};
constexpr Spec kQ5_0Spec = {.lowest = -16, .highest = 15, .fast = -16, .steps = kQ5_0Steps};
constexpr Spec kQ8_0Spec = {.lowest = -127,
                            .highest = 127,
                            .fast = 127,
                            .magnitude = true,
                            .signed_codes = true,
                            .steps = kQ8_0Steps,
                            .cuts = false};
constexpr Spec kQ4_1Spec = {.grid = Grid::affine, .highest = 15, .trims = kFourBitTrims};
constexpr Spec kQ5_1Spec = {.grid = Grid::affine, .highest = 31, .trims = kFiveBitTrims};
constexpr Spec kIq4NlSpec = {.grid = Grid::table, .fast = -127, .steps = kIq4Steps};
constexpr Spec kMxfp4Spec = {.grid = Grid::floats};
constexpr Spec kQ2KSpec = {.grid = Grid::affine,
                           .part = 16,
                           .highest = 3,
                           .trims = kTwoBitTrims,
                           .super = 16,
                           .sub_highest = 15,
                           .divisors = divisors(15, 0.3F)};
constexpr Spec kQ3KSpec = {.part = 16,
                           .lowest = -4,
                           .highest = 3,
                           .fast = -4,
                           .steps = kQ3KSteps,
                           .super = 16,
                           .sub_lowest = -32,
                           .sub_highest = 31,
                           .divisors = signed_divisors(-32, 31, 0.9F)};
constexpr Spec kQ4KSpec = {.grid = Grid::affine,
                           .highest = 15,
                           .trims = kFourBitTrims,
                           .super = 8,
                           .sub_highest = 63,
                           .divisors = divisors(63, 1)};
constexpr Spec kQ5KSpec = {.grid = Grid::affine,
                           .highest = 31,
                           .trims = kFiveBitTrims,
                           .super = 8,
                           .sub_highest = 63,
                           .divisors = divisors(63, 1)};
constexpr Spec kQ6KSpec = {.part = 16,
                           .lowest = -32,
                           .highest = 31,
                           .fast = -32,
                           .steps = kQ6KSteps,
                           .super = 16,
                           .sub_lowest = -128,
                           .sub_highest = 127,
                           .divisors = signed_divisors(-128, 127, 2)};
constexpr Spec kIq4XsSpec = {.grid = Grid::table,
                             .fast = -127,
                             .steps = kIq4Steps,
                             .super = 8,
                             .sub_lowest = -32,
                             .sub_highest = 31,
                             .divisors = signed_divisors(-32, 31, 0.9F)};

constexpr auto kTernarySteps = std::array<float, 8>{1, 1.4F, 1.8F, 2.2F, 2.7F, 3.4F, 4.5F, 6.5F};
constexpr auto kTernaryAgain = std::array<float, 4>{0.88F, 0.96F, 1.04F, 1.12F};
constexpr auto kQ2_0Steps = std::array<float, 8>{2, 1.6F, 2.3F, 2.7F, -1, -0.85F, -1.2F, -1.45F};
constexpr auto kQ2_0Again = std::array<float, 4>{0.94F, 0.98F, 1.02F, 1.06F};
constexpr Spec kTernarySpec = {.part = 16,
                               .lowest = -1,
                               .highest = 1,
                               .fast = 1,
                               .magnitude = true,
                               .steps = kTernarySteps,
                               .super = 16,
                               .joined = true,
                               .again = kTernaryAgain};
constexpr Spec kQ2_0Spec = {
    .lowest = -1, .highest = 2, .fast = 2, .steps = kQ2_0Steps, .super = 2, .joined = true, .again = kQ2_0Again};
constexpr Spec kQ1_0Spec = {.grid = Grid::signs, .fast = 1, .magnitude = true, .super = 4, .joined = true};
constexpr Spec kNvfp4Spec = {.grid = Grid::floats, .part = 16, .super = 4};

// The codes of one block, and its number among the blocks coded together.
struct Block {
  const CodedParts& parts;
  std::size_t number;
  const std::uint8_t* codes;
};

// Calls put(block, bytes) for each block.
template <typename Put>
std::size_t encode_all(Type type, const Spec& spec, const BlockWeights& in, std::byte* out, const Put& put) {
  const std::size_t bytes = facts_of(type).bytes;
  const std::size_t parts_of_block = std::max<std::size_t>(1, spec.super), size = parts_of_block * spec.part;
  const std::size_t at_once = kParts / parts_of_block;
  CodedParts coded;
  for (std::size_t first = 0; first < in.count; first += at_once) {
    const std::size_t blocks = std::min(at_once, in.count - first);
    Parts parts = {.weights = in.weights + first * size,
                   .importance = in.importance == nullptr ? nullptr : in.importance + first * size,
                   .fast = in.fast};
    std::array<float, kParts * kMostPart> weights, importance;
    if (blocks != at_once) {
      // Missing blocks are filled with zeros.
      std::fill(std::copy_n(parts.weights, blocks * size, weights.begin()), weights.end(), 0.0F);
      parts.weights = weights.data();
      if (parts.importance != nullptr) {
        std::fill(std::copy_n(parts.importance, blocks * size, importance.begin()), importance.end(), 0.0F);
        parts.importance = importance.data();
      }
    }
    code_parts(spec, parts, coded);
    if (coded.fitting != kParts) return first + coded.fitting / parts_of_block;
    for (std::size_t b = 0; b < blocks; ++b) put(Block{coded, b, &coded.codes[b * size]}, out + (first + b) * bytes);
  }
  return in.count;
}

void put_half(std::uint16_t bits, std::byte* to) { store_le<std::uint16_t>(to, bits); }

// The functions below build bytes in a local array: nothing else can point to it, so compilers vectorize the loops.

// Puts two 4-bit codes into a byte: those of weights i and i + kDistance.
template <std::size_t kDistance>
void put_halves(const std::uint8_t* codes, std::byte* to) {
  std::array<std::uint8_t, kDistance> bytes;
  for (std::size_t i = 0; i < kDistance; ++i)
    bytes[i] = static_cast<std::uint8_t>((codes[i] & 15) | codes[i + kDistance] << 4);
  std::memcpy(to, bytes.data(), kDistance);
}

// Puts two bits of every code, from `shift` on, into 64 bytes.
void put_crumbs(const std::uint8_t* codes, unsigned shift, std::byte* to) {
  std::array<std::uint8_t, 64> bytes;
  for (std::size_t half = 0; half < 2; ++half, codes += 128)
    for (std::size_t i = 0; i < 32; ++i)
      bytes[32 * half + i] =
          static_cast<std::uint8_t>((codes[i] >> shift & 3) | (codes[i + 32] >> shift & 3) << 2 |
                                    (codes[i + 64] >> shift & 3) << 4 | (codes[i + 96] >> shift & 3) << 6);
  std::memcpy(to, bytes.data(), bytes.size());
}

// Puts the bits from `shift` on of weights i, i + 32, ... into byte i, one bit each.
void put_high_bits(const std::uint8_t* codes, unsigned shift, std::byte* to) {
  std::array<std::uint8_t, 32> bytes{};
  for (unsigned k = 0; k < 8; ++k)
    for (std::size_t i = 0; i < 32; ++i)
      bytes[i] = static_cast<std::uint8_t>(bytes[i] | (codes[32 * k + i] >> shift) << k);
  std::memcpy(to, bytes.data(), bytes.size());
}

// The fifth bits of 32 codes as one number, eight at a time: the product moves bit 0 of byte i to bit 56 + i.
std::uint32_t fifth_bits(const std::uint8_t* codes) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 32; i += 8) {
    const std::uint64_t low = load_le<std::uint64_t>(codes + i) >> 4 & 0x0101010101010101u;
    bits |= static_cast<std::uint32_t>(low * 0x0102040810204080u >> 56) << i;
  }
  return bits;
}

void put_k_scales(const Block& block, std::byte* to) {
  const std::uint8_t* const scale = &block.parts.sub_scale[8 * block.number];
  const std::uint8_t* const minimum = &block.parts.sub_minimum[8 * block.number];
  for (std::size_t k = 0; k < 4; ++k) {
    to[k] = static_cast<std::byte>(scale[k] | scale[k + 4] >> 4 << 6);
    to[k + 4] = static_cast<std::byte>(minimum[k] | minimum[k + 4] >> 4 << 6);
    to[k + 8] = static_cast<std::byte>((scale[k + 4] & 15) | (minimum[k + 4] & 15) << 4);
  }
}

std::size_t encode_q4_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q4_0, kQ4_0Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_halves<16>(block.codes, to + 2);
  });
}

std::size_t encode_q4_1(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q4_1, kQ4_1Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_half(block.parts.minimum[block.number], to + 2);
    put_halves<16>(block.codes, to + 4);
  });
}

std::size_t encode_q5_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q5_0, kQ5_0Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    store_le<std::uint32_t>(to + 2, fifth_bits(block.codes));
    put_halves<16>(block.codes, to + 6);
  });
}

std::size_t encode_q5_1(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q5_1, kQ5_1Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_half(block.parts.minimum[block.number], to + 2);
    store_le<std::uint32_t>(to + 4, fifth_bits(block.codes));
    put_halves<16>(block.codes, to + 8);
  });
}

std::size_t encode_q8_0(const BlockWeights& in, std::byte* blocks) {
  const auto put = [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    std::memcpy(to + 2, block.codes, 32);
  };
  if (!in.fast) return encode_all(Type::q8_0, kQ8_0Spec, in, blocks, put);
  for (std::size_t done = 0; done < in.count;) {
    done += fast_q8_0(in.weights + 32 * done, in.count - done, blocks + 34 * done);
    const BlockWeights rest{.weights = in.weights + 32 * done,
                            .importance = nullptr,
                            .count = std::min(kParts, in.count - done),
                            .fast = true};
    const std::size_t coded = encode_all(Type::q8_0, kQ8_0Spec, rest, blocks + 34 * done, put);
    done += coded;
    if (coded != rest.count) return done;
  }
  return in.count;
}

std::size_t encode_iq4_nl(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::iq4_nl, kIq4NlSpec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_halves<16>(block.codes, to + 2);
  });
}

std::size_t encode_mxfp4(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::mxfp4, kMxfp4Spec, in, blocks, [](const Block& block, std::byte* to) {
    to[0] = static_cast<std::byte>(block.parts.sub_scale[block.number]);
    put_halves<16>(block.codes, to + 1);
  });
}

std::size_t encode_nvfp4(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::nvfp4, kNvfp4Spec, in, blocks, [](const Block& block, std::byte* to) {
    std::memcpy(to, &block.parts.sub_scale[4 * block.number], 4);
    for (std::size_t k = 0; k < 4; ++k) put_halves<8>(block.codes + 16 * k, to + 4 + 8 * k);
  });
}

std::size_t encode_q1_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q1_0, kQ1_0Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    // As in fifth_bits.
    for (std::size_t i = 0; i < 16; ++i)
      to[2 + i] = static_cast<std::byte>(
          (load_le<std::uint64_t>(block.codes + 8 * i) & 0x0101010101010101u) * 0x0102040810204080u >> 56);
  });
}

std::size_t encode_q2_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q2_0, kQ2_0Spec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    for (std::size_t i = 0; i < 16; ++i) {
      const std::uint8_t* const four = block.codes + 4 * i;
      to[2 + i] = static_cast<std::byte>(four[0] | four[1] << 2 | four[2] << 4 | four[3] << 6);
    }
  });
}

// Puts the codes of weights i, i + kDistance, ... as digits of a number with base 3 into byte i, the first one highest. The number is
// stored as a fraction of 256, rounded up.
template <std::size_t kDistance, std::size_t kDigits>
void put_digits(const std::uint8_t* codes, std::byte* to) {
  std::array<std::uint8_t, kDistance> bytes;
  for (std::size_t i = 0; i < kDistance; ++i) {
    unsigned number = 0;
    for (std::size_t k = 0; k < 5; ++k) number = 3 * number + (k < kDigits ? codes[i + k * kDistance] : 0U);
    bytes[i] = static_cast<std::uint8_t>((number * 256 + 242) / 243);
  }
  std::memcpy(to, bytes.data(), kDistance);
}

std::size_t encode_tq1_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::tq1_0, kTernarySpec, in, blocks, [](const Block& block, std::byte* to) {
    put_digits<32, 5>(block.codes, to);
    put_digits<16, 5>(block.codes + 160, to + 32);
    put_digits<4, 4>(block.codes + 240, to + 48);
    put_half(block.parts.scale[block.number], to + 52);
  });
}

std::size_t encode_tq2_0(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::tq2_0, kTernarySpec, in, blocks, [](const Block& block, std::byte* to) {
    put_crumbs(block.codes, 0, to);
    put_half(block.parts.scale[block.number], to + 64);
  });
}

template <Type kType>
std::size_t encode_grid(const BlockWeights& in, std::byte* blocks) {
  return encode_words(kType, in, blocks);
}

std::size_t encode_q2_k(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q2_k, kQ2KSpec, in, blocks, [](const Block& block, std::byte* to) {
    for (std::size_t k = 0; k < 16; ++k)
      to[k] = static_cast<std::byte>(block.parts.sub_scale[k] | block.parts.sub_minimum[k] << 4);
    put_crumbs(block.codes, 0, to + 16);
    put_half(block.parts.scale[0], to + 80);
    put_half(block.parts.minimum[0], to + 82);
  });
}

std::size_t encode_q3_k(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q3_k, kQ3KSpec, in, blocks, [](const Block& block, std::byte* to) {
    put_high_bits(block.codes, 2, to);
    put_crumbs(block.codes, 0, to + 32);
    const auto scale = [&](std::size_t k) { return (block.parts.sub_scale[k] + 32U) & 63U; };
    for (std::size_t k = 0; k < 8; ++k) to[96 + k] = static_cast<std::byte>((scale(k) & 15) | (scale(k + 8) & 15) << 4);
    for (std::size_t k = 0; k < 4; ++k)
      to[104 + k] = static_cast<std::byte>(scale(k) >> 4 | scale(k + 4) >> 4 << 2 | scale(k + 8) >> 4 << 4 |
                                           scale(k + 12) >> 4 << 6);
    put_half(block.parts.scale[0], to + 108);
  });
}

std::size_t encode_q4_k(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q4_k, kQ4KSpec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_half(block.parts.minimum[block.number], to + 2);
    put_k_scales(block, to + 4);
    for (std::size_t i = 0; i < 4; ++i) put_halves<32>(block.codes + 64 * i, to + 16 + 32 * i);
  });
}

std::size_t encode_q5_k(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q5_k, kQ5KSpec, in, blocks, [](const Block& block, std::byte* to) {
    put_half(block.parts.scale[block.number], to);
    put_half(block.parts.minimum[block.number], to + 2);
    put_k_scales(block, to + 4);
    put_high_bits(block.codes, 4, to + 16);
    for (std::size_t i = 0; i < 4; ++i) put_halves<32>(block.codes + 64 * i, to + 48 + 32 * i);
  });
}

std::size_t encode_q6_k(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::q6_k, kQ6KSpec, in, blocks, [](const Block& block, std::byte* to) {
    for (std::size_t half = 0; half < 2; ++half) put_halves<64>(block.codes + 128 * half, to + 64 * half);
    put_crumbs(block.codes, 4, to + 128);
    std::memcpy(to + 192, block.parts.sub_scale.data(), 16);
    put_half(block.parts.scale[0], to + 208);
  });
}

std::size_t encode_iq4_xs(const BlockWeights& in, std::byte* blocks) {
  return encode_all(Type::iq4_xs, kIq4XsSpec, in, blocks, [](const Block& block, std::byte* to) {
    const auto scale = [&](std::size_t k) { return (block.parts.sub_scale[8 * block.number + k] + 32U) & 63U; };
    put_half(block.parts.scale[block.number], to);
    unsigned high = 0;
    for (unsigned k = 0; k < 8; ++k) high |= scale(k) >> 4 << (2 * k);
    store_le<std::uint16_t>(to + 2, static_cast<std::uint16_t>(high));
    for (std::size_t k = 0; k < 4; ++k)
      to[4 + k] = static_cast<std::byte>((scale(2 * k) & 15) | (scale(2 * k + 1) & 15) << 4);
    for (std::size_t k = 0; k < 8; ++k) put_halves<16>(block.codes + 32 * k, to + 8 + 16 * k);
  });
}

struct Encoder {
  Type type;
  std::size_t (*encode)(const BlockWeights& in, std::byte* blocks);
};
constexpr Encoder kEncoders[] = {
    {Type::q4_0, encode_q4_0},
    {Type::q4_1, encode_q4_1},
    {Type::q5_0, encode_q5_0},
    {Type::q5_1, encode_q5_1},
    {Type::q8_0, encode_q8_0},
    {Type::q2_k, encode_q2_k},
    {Type::q3_k, encode_q3_k},
    {Type::q4_k, encode_q4_k},
    {Type::q5_k, encode_q5_k},
    {Type::q6_k, encode_q6_k},
    {Type::iq4_nl, encode_iq4_nl},
    {Type::iq4_xs, encode_iq4_xs},
    {Type::tq1_0, encode_tq1_0},
    {Type::tq2_0, encode_tq2_0},
    {Type::mxfp4, encode_mxfp4},
    {Type::nvfp4, encode_nvfp4},
    {Type::q1_0, encode_q1_0},
    {Type::q2_0, encode_q2_0},
    {Type::iq2_xxs, encode_grid<Type::iq2_xxs>},
    {Type::iq2_xs, encode_grid<Type::iq2_xs>},
    {Type::iq2_s, encode_grid<Type::iq2_s>},
    {Type::iq3_xxs, encode_grid<Type::iq3_xxs>},
    {Type::iq3_s, encode_grid<Type::iq3_s>},
    {Type::iq1_s, encode_grid<Type::iq1_s>},
    {Type::iq1_m, encode_grid<Type::iq1_m>},
};
static_assert(std::ranges::all_of(kTypes, [](const TypeFacts& facts) {
  return facts.method.exists == (std::ranges::find(kEncoders, facts.type, &Encoder::type) != std::end(kEncoders));
}));

}  // namespace

std::size_t encode(Type type, const BlockWeights& in, std::byte* blocks) {
  return std::ranges::find(kEncoders, type, &Encoder::type)->encode(in, blocks);
}

}  // namespace tare::codec::ggml
