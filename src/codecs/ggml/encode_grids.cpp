// The candidates that each type of codewords tries, and how its codes and scales are arranged in a block.
#include <algorithm>
#include <cstring>

#include "base/endian.hpp"
#include "codecs/ggml/encode_words.hpp"
#include "codecs/ggml/grids.hpp"

namespace tare::codec::ggml {
namespace {

// `count` steps from `first` on, each `factor` times the one before.
template <std::size_t kCount>
constexpr std::array<float, kCount> geometric(float first, float factor) {
  std::array<float, kCount> steps{};
  for (std::size_t i = 0; i < kCount; ++i, first *= factor) steps[i] = first;
  return steps;
}
constexpr std::array<float, kDivisors> descending(float first, float step) {
  std::array<float, kDivisors> all{};
  for (std::size_t i = 0; i < kDivisors; ++i) all[i] = first - static_cast<float>(i) * step;
  return all;
}

constexpr std::array<float, 8> kIq2Levels = {8, 25, 43}, kIq1Levels = {-8, 0, 8},
                               kIq3XxsLevels = {4, 12, 20, 28, 36, 44, 52, 62},
                               kIq3SLevels = {1, 3, 5, 7, 9, 11, 13, 15};

// Relative to the root of the mean square. The range covers nearly all parts of Gaussian, Laplace and Student-t weights, also
// with very unequal importance; twice as many steps would save less than 0.1 % (IQ1: 0.5 %).
constexpr auto kIq2Steps = geometric<6>(1.25F / 43, 1.2F);
constexpr auto kIq2SSteps = geometric<5>(1.3F / 43, 1.25F);
constexpr auto kIq3XxsSteps = geometric<6>(1.7F / 62, 1.2F);
constexpr auto kIq3SSteps = geometric<8>(1.65F / 15, 1.15F);
constexpr auto kIq1Steps = geometric<2>(1.15F / 8, 1.35F);

WordSpec spec_of(Type type) {
  switch (type) {
    case Type::iq2_xxs:
      return {.words = Words::iq2_xxs,
              .levels = kIq2Levels,
              .unit = 0.125F,
              .steps = kIq2Steps,
              .fast = 0.8F / 43,
              .divisors = descending(31.5F, 0.6F)};
    case Type::iq2_xs:
      return {.words = Words::iq2_xs,
              .levels = kIq2Levels,
              .part = 16,
              .unit = 0.125F,
              .steps = kIq2Steps,
              .fast = 0.8F / 43,
              .divisors = descending(31.5F, 0.6F)};
    case Type::iq2_s:
      return {.words = Words::iq2_s,
              .levels = kIq2Levels,
              .part = 16,
              .unit = 0.125F,
              .steps = kIq2SSteps,
              .fast = 0.8F / 43,
              .divisors = descending(31.5F, 0.6F)};
    case Type::iq3_xxs:
      return {.words = Words::iq3_xxs,
              .levels = kIq3XxsLevels,
              .unit = 0.25F,
              .steps = kIq3XxsSteps,
              .fast = 0.9F / 62,
              .divisors = descending(31.5F, 0.6F)};
    case Type::iq3_s:
      return {.words = Words::iq3_s,
              .levels = kIq3SLevels,
              .unit = 1,
              .steps = kIq3SSteps,
              .fast = 0.9F / 15,
              .divisors = descending(31.5F, 0.6F)};
    case Type::iq1_s:
      return {.levels = kIq1Levels,
              .delta = 1,
              .shared = true,
              .unit = 0.125F,
              .top = 7,
              .steps = kIq1Steps,
              .fast = 0.5F / 8,
              .divisors = descending(15.5F, 0.4F)};
    default:
      return {.levels = kIq1Levels,
              .delta = 1,
              .part = 16,
              .unit = 0.125F,
              .top = 7,
              .steps = kIq1Steps,
              .fast = 0.5F / 8,
              .divisors = descending(15.5F, 0.4F)};
  }
}

// The words and signs of one block.
void put_block(Type type, const CodedWords& all, std::size_t number, std::byte* to) {
  std::memset(to, 0, facts_of(type).bytes);
  const auto put16 = [&](std::size_t at, unsigned value) {
    store_le<std::uint16_t>(to + at, static_cast<std::uint16_t>(value));
  };
  const auto put32 = [&](std::size_t at, unsigned value) { store_le<std::uint32_t>(to + at, value); };
  const auto add = [&](std::size_t at, unsigned bits) { to[at] |= static_cast<std::byte>(bits); };
  const bool zero = all.scale[number] == 0;
  const auto word = [&](std::size_t i) -> unsigned {
    return all.word[(type == Type::iq3_xxs || type == Type::iq3_s ? 64 : 32) * number + i];
  };
  const auto sign = [&](std::size_t i) -> unsigned { return all.signs[32 * number + i]; };
  const bool sixteenths = type == Type::iq2_xs || type == Type::iq2_s || type == Type::iq1_m;
  const auto scale = [&](std::size_t i) -> unsigned { return all.sub_scale[(sixteenths ? 16 : 8) * number + i]; };
  switch (type) {
    case Type::iq2_xxs:
      put16(0, all.scale[number]);
      for (std::size_t e = 0; e < 8; ++e) {
        unsigned rest = scale(e) << 28;
        for (std::size_t l = 0; l < 4; ++l) {
          add(2 + 8 * e + l, word(4 * e + l));
          rest |= (sign(4 * e + l) & 127) << (7 * l);
        }
        put32(2 + 8 * e + 4, rest);
      }
      return;
    case Type::iq2_xs:
      put16(0, all.scale[number]);
      for (std::size_t g = 0; g < 32; ++g) put16(2 + 2 * g, word(g) | (sign(g) & 127) << 9);
      for (std::size_t e = 0; e < 8; ++e) add(66 + e, scale(2 * e) | scale(2 * e + 1) << 4);
      return;
    case Type::iq2_s:
      put16(0, all.scale[number]);
      for (std::size_t g = 0; g < 32; ++g) {
        add(2 + g, word(g) & 255);
        add(34 + g, sign(g));
        add(66 + g / 4, word(g) >> 8 << (2 * (g % 4)));
      }
      for (std::size_t e = 0; e < 8; ++e) add(74 + e, scale(2 * e) | scale(2 * e + 1) << 4);
      return;
    case Type::iq3_xxs:
      put16(0, all.scale[number]);
      for (std::size_t w = 0; w < 64; ++w) add(2 + w, word(w));
      for (std::size_t e = 0; e < 8; ++e) {
        unsigned rest = scale(e) << 28;
        for (std::size_t l = 0; l < 4; ++l) rest |= (sign(4 * e + l) & 127) << (7 * l);
        put32(66 + 4 * e, rest);
      }
      return;
    case Type::iq3_s:
      put16(0, all.scale[number]);
      for (std::size_t w = 0; w < 64; ++w) {
        add(2 + w, word(w) & 255);
        add(66 + w / 8, word(w) >> 8 << (w % 8));
      }
      for (std::size_t g = 0; g < 32; ++g) add(74 + g, sign(g));
      for (std::size_t e = 0; e < 8; ++e) add(106 + e / 2, scale(e) << (4 * (e % 2)));
      return;
    case Type::iq1_s:
      put16(0, all.scale[number]);
      for (std::size_t e = 0; e < 8; ++e) {
        unsigned high = scale(e) << 12 | (zero ? 0 : sign(4 * e)) << 15;
        for (std::size_t l = 0; l < 4; ++l) {
          const unsigned code = zero ? 2047 : word(4 * e + l);
          add(2 + 4 * e + l, code & 255);
          high |= code >> 8 << (3 * l);
        }
        put16(34 + 2 * e, high);
      }
      return;
    default:
      for (std::size_t g = 0; g < 32; ++g) {
        const unsigned code = zero ? 2047 : word(g);
        add(g, code & 255);
        add(32 + g / 2, (code >> 8 | (zero ? 0 : sign(g)) << 3) << (4 * (g % 2)));
      }
      for (std::size_t i = 0; i < 4; ++i) {
        unsigned scales = (all.scale[number] >> (4 * i) & 15U) << 12;
        for (std::size_t k = 0; k < 4; ++k) scales |= scale(4 * i + k) << (3 * k);
        put16(48 + 2 * i, scales);
      }
      return;
  }
}

}  // namespace

std::size_t encode_words(Type type, const BlockWeights& in, std::byte* out) {
  constexpr std::size_t kBlock = 256;
  const WordSpec spec = spec_of(type);
  const std::size_t bytes = facts_of(type).bytes, parts_of_block = kBlock / spec.part,
                    at_once = kParts / parts_of_block;
  CodedWords coded;
  for (std::size_t first = 0; first < in.count; first += at_once) {
    const std::size_t blocks = std::min(at_once, in.count - first);
    Parts parts = {.weights = in.weights + first * kBlock,
                   .importance = in.importance == nullptr || in.fast ? nullptr : in.importance + first * kBlock,
                   .fast = in.fast};
    std::array<float, kParts * kMostPart> weights, importance;
    if (blocks != at_once) {
      // Missing blocks are filled with zeros.
      std::fill(std::copy_n(parts.weights, blocks * kBlock, weights.begin()), weights.end(), 0.0F);
      parts.weights = weights.data();
      if (parts.importance != nullptr) {
        std::fill(std::copy_n(parts.importance, blocks * kBlock, importance.begin()), importance.end(), 0.0F);
        parts.importance = importance.data();
      }
    }
    code_words(spec, parts, coded);
    if (coded.fitting != kParts) return first + coded.fitting / parts_of_block;
    for (std::size_t b = 0; b < blocks; ++b) put_block(type, coded, b, out + (first + b) * bytes);
  }
  return in.count;
}

}  // namespace tare::codec::ggml
