// Encoding to ggml's types: blocks with known bytes, the loss on realistic weights, and the same bytes on every SIMD
// target.
#include "codecs/ggml/encode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "codecs/ggml/types.hpp"
#include "codecs/mcf/samples.hpp"
#include "conformance/models.hpp"
#include "simd_targets.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::testing::ggml;
using codec::mcf::matrix;
using codec::mcf::payload_of;
using codec::mcf::weights;
using codec::mcf::Weights;

// Relative rms errors of ggml's own encoders, without importance (llama.cpp b21e4de745), on Gaussian weights and on
// Student-t weights with 5 degrees of freedom. For Laplace weights: ours, rounded up.
struct Expected {
  std::string_view method;
  double gaussian, student, laplace;
};
constexpr Expected kExpected[] = {
    {"q8_0", .00536, .00678, .0064},
    {"q4_0", .0859, .1078, .1035},
    {"q4_1", .0783, .0900, .0825},
    {"q5_0", .0427, .0538, .0515},
    {"q5_1", .0379, .0435, .0405},
    {"q2_k", .2961, .3302, .2910},
    {"q3_k", .1508, .1760, .1700},
    {"q4_k", .0716, .0833, .0830},
    {"q5_k", .0363, .0421, .0412},
    {"q6_k", .0178, .0217, .0205},
    {"iq4_nl", .0761, .0886, .0855},
    {"iq4_xs", .0768, .0899, .0860},
    {"mxfp4", .1140, .1264, .1235},
    // ggml refuses most of the following without importance; with equal importance for all, its errors are lower than without.
    {"iq2_xxs", .3431, .3844, .3600},
    {"iq2_xs", .2992, .3277, .3100},
    {"iq2_s", .2484, .2900, .2850},
    {"iq3_xxs", .1819, .1972, .1900},
    {"iq3_s", .1364, .1548, .1480},
    {"iq1_s", .4839, .5565, .5000},
    {"iq1_m", .4503, .4924, .4500},
    {"tq1_0", .8084, .8512, .6000},
    {"tq2_0", .8084, .8512, .6000},
    {"nvfp4", .1030, .0973, .1000},
    {"q1_0", .6030, .6800, .7100},
    {"q2_0", .7000, .7400, .5500},
};

const Type& type_of(std::string_view method) {
  for (const Type& type : kTypes)
    if (type.layout.substr(5) == method) return type;
  throw std::logic_error("no such type");
}

// EncodeOptions without a method.
struct How {
  bool fast = false;
  std::vector<float> importance = {};
  std::optional<std::pair<float, float>> clip = std::nullopt;
  std::shared_ptr<EncodeReport> report = nullptr;
};

Tensor encoded(std::string_view method, std::span<const float> values, std::uint64_t columns, const How& how = {}) {
  EncodeOptions options;
  options.method = method;
  options.fast = how.fast;
  options.importance = how.importance;
  options.clip = how.clip;
  options.report = how.report;
  const Tensor result = find_codec_by_method(method)->encode(matrix(values, values.size() / columns, columns), options);
  EXPECT_EQ(result.layout, "ggml." + std::string(method));
  return result;
}

// Encodes one row with and without a search, which must give the same bytes.
Bytes only_bytes(std::string_view method, const std::vector<float>& row) {
  const Bytes fast = payload_of(encoded(method, row, row.size(), {.fast = true}));
  EXPECT_TRUE(payload_of(encoded(method, row, row.size())) == fast) << method;
  return fast;
}

void expect_weights(std::string_view method, const Bytes& bytes, const std::vector<float>& weights) {
  const Type& type = type_of(method);
  ASSERT_EQ(bytes.size(), weights.size() / type.weights * type.bytes);
  for (std::size_t i = 0; i < weights.size(); ++i)
    ASSERT_EQ(type.value({bytes.data() + i / type.weights * type.bytes}, i % type.weights), weights[i])
        << method << ", weight " << i;
}

double relative_error(std::span<const float> values, std::span<const float> found,
                      std::span<const float> importance = {}) {
  double error = 0, sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = importance.empty() ? 1 : importance[i % importance.size()], x = values[i], off = x - found[i];
    error += p * off * off;
    sum += p * x * x;
  }
  return std::sqrt(error / sum);
}

std::vector<float> student_weights(std::size_t count) {
  // A normal number divided by the root of the mean of the squares of five others.
  const std::vector<float> normal = weights(Weights::gaussian, 6 * count, 3);
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    double squares = 0;
    for (std::size_t k = 1; k < 6; ++k) squares += std::pow(normal[6 * i + k] / 0.02, 2);
    out[i] = static_cast<float>(normal[6 * i] / std::sqrt(squares / 5));
  }
  return out;
}

// Uses every code with d = 1/4: the extreme weight is 1/4 of the lowest code, which gives that scale, and every other
// weight is a multiple of it.
TEST(GgmlEncode, OneScaleByHand) {
  struct Case {
    std::string_view method;
    int lowest, codes;
  };
  for (const auto& [method, lowest, codes] : {Case{"q4_0", -8, 16}, Case{"q5_0", -16, 32}, Case{"q8_0", -127, 255}}) {
    std::vector<float> row(256);
    for (int i = 0; i < 256; ++i) row[i] = static_cast<float>(lowest + (i * 11) % codes) / 4;
    // Each block of 32 contains the extreme.
    for (int i = 0; i < 256; i += 32) row[i] = static_cast<float>(lowest) / 4;
    const Bytes bytes = only_bytes(method, row);
    EXPECT_EQ(load_le<std::uint16_t>(bytes.data()), 0x3400) << method;  // 2^-2
    expect_weights(method, bytes, row);
  }
  // q4_0: -2 is code 0, in the low half of byte 0; weight 16 is -8 + 176 % 16 = -8, code 0, in the high one.
  std::vector<float> row(32, 0.25F);
  row[0] = -2;
  const Bytes bytes = only_bytes("q4_0", row);
  EXPECT_EQ(std::to_integer<int>(bytes[2]), 0x90);  // 0.25 is 1, code 9
  for (std::size_t i = 3; i < 18; ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), 0x99);
  // A positive extreme has a negative scale: 2 = -1/4 * -8.
  row[0] = 2;
  EXPECT_EQ(load_le<std::uint16_t>(only_bytes("q4_0", row).data()), 0xB400);
}

// From -3 to -3 + 1/8 * highest in steps of 1/8: d = (max - min) / highest = 1/8, and the minimum is -3.
TEST(GgmlEncode, AScaleAndAMinimumByHand) {
  for (const auto& [method, codes] : {std::pair("q4_1", 16), std::pair("q5_1", 32)}) {
    std::vector<float> row(64);
    for (int i = 0; i < 64; ++i) row[i] = -3 + static_cast<float>((i * 7 + i / 32) % codes) / 8;
    const Bytes bytes = only_bytes(method, row);
    EXPECT_EQ(load_le<std::uint16_t>(bytes.data()), 0x3000) << method;      // 2^-3
    EXPECT_EQ(load_le<std::uint16_t>(bytes.data() + 2), 0xC200) << method;  // -3
    expect_weights(method, bytes, row);
    // A positive minimum works as well.
    for (float& weight : row) weight += 8;
    expect_weights(method, only_bytes(method, row), row);
  }
}

// d = 1/64 and dmin = 1/32 times integers up to the largest, per part. Every part has codes 0 and `highest`, so that
// max - min and min give its scale and minimum, and the largest of those, divided by `largest`, give d and dmin.
TEST(GgmlEncode, ScalesAndMinimumsOfPartsByHand) {
  struct Case {
    std::string_view method;
    unsigned part, highest, largest;
    std::size_t d_at;
  };
  for (const auto& [method, part, highest, largest, d_at] :
       {Case{"q4_k", 32, 15, 63, 0}, Case{"q5_k", 32, 31, 63, 0}, Case{"q2_k", 16, 3, 15, 80}}) {
    std::vector<float> row(512);
    for (unsigned i = 0; i < 512; ++i) {
      const unsigned k = i % 256 / part, scale = k == 2 ? largest : 1 + (k * 5 + i / 256) % largest;
      const unsigned minimum = k == 3 ? largest : k * 7 % largest;
      const unsigned code = i % part == 0 ? 0 : i % part == 1 ? highest : (i * 5 + k) % (highest + 1);
      row[i] = static_cast<float>(scale * code) / 64 - static_cast<float>(minimum) / 32;
    }
    const Bytes bytes = only_bytes(method, row);
    EXPECT_EQ(load_le<std::uint16_t>(&bytes[d_at]), 0x2400) << method;      // 2^-6
    EXPECT_EQ(load_le<std::uint16_t>(&bytes[d_at + 2]), 0x2800) << method;  // 2^-5
    expect_weights(method, bytes, row);
  }
}

// d = 1/64 times integers from the lowest up, per part; every part has the lowest code (IQ4_XS: -127).
TEST(GgmlEncode, ScalesOfPartsByHand) {
  struct Case {
    std::string_view method;
    int part, lowest, codes, least;
    std::size_t d_at;
  };
  for (const auto& [method, part, lowest, codes, least, d_at] :
       {Case{"q6_k", 16, -32, 64, -128, 208}, Case{"q3_k", 16, -4, 8, -32, 108}, Case{"iq4_xs", 32, 0, 16, -32, 0}}) {
    std::vector<float> row(512);
    for (int i = 0; i < 512; ++i) {
      const int k = i % 256 / part, scale = k == 1 ? least : least + 3 + (k * 13 + i / 256) % (-least - 4);
      const int code = i % part == 0 ? lowest : lowest + (i * 5 + k) % codes;
      const double value = method == "iq4_xs" ? kTable[code] : code;
      row[i] = static_cast<float>(scale * value / 64);
    }
    const Bytes bytes = only_bytes(method, row);
    EXPECT_EQ(load_le<std::uint16_t>(&bytes[d_at]), 0x2400) << method;
    expect_weights(method, bytes, row);
  }
}

// The values of the tables themselves, times 1/4.
TEST(GgmlEncode, TablesByHand) {
  std::vector<float> row(32);
  for (std::size_t i = 0; i < 32; ++i) row[i] = static_cast<float>(kTable[i * 5 % 16] / 4);
  Bytes bytes = only_bytes("iq4_nl", row);
  EXPECT_EQ(load_le<std::uint16_t>(bytes.data()), 0x3400);
  // Weight 1 is entry 5, weight 17 entry 85 % 16 = 5.
  EXPECT_EQ(std::to_integer<int>(bytes[3]), 0x55);
  expect_weights("iq4_nl", bytes, row);
  for (unsigned i = 0; i < 32; ++i) row[i] = static_cast<float>(e2m1(i * 7 % 16) / 4);
  bytes = only_bytes("mxfp4", row);
  EXPECT_EQ(std::to_integer<int>(bytes[0]), 125);  // 2^(125 - 127)
  expect_weights("mxfp4", bytes, row);
}

// -1, 0 and 1 times 2; -1, 0, 1 and 2 times 2; -1 and 1 times 2; and 4-bit floats with scales of 2^k.
TEST(GgmlEncode, FewLevelsByHand) {
  std::vector<float> row(512);
  for (int i = 0; i < 512; ++i) row[i] = static_cast<float>(2 * (i * 7 % 3 - 1));
  for (const char* const method : {"tq1_0", "tq2_0"}) expect_weights(method, only_bytes(method, row), row);
  EXPECT_EQ(load_le<std::uint16_t>(only_bytes("tq2_0", row).data() + 64), 0x4000);
  // -1, 1, 0 (times 2) from weights 0, 32, 64, 96: (0, 2, 1, 0) from the lowest bits on.
  EXPECT_EQ(std::to_integer<int>(only_bytes("tq2_0", row)[0]), 0 | 2 << 2 | 1 << 4 | 0 << 6);
  // 0, 2, 1, 0, 2 as digits: 2 * 27 + 9 + 2 = 65 of 243, in 256ths rounded up.
  EXPECT_EQ(std::to_integer<int>(only_bytes("tq1_0", row)[0]), (65 * 256 + 242) / 243);
  for (int i = 0; i < 512; ++i) row[i] = static_cast<float>(2 * (i * 7 % 4 - 1));
  expect_weights("q2_0", only_bytes("q2_0", row), row);
  EXPECT_EQ(std::to_integer<int>(only_bytes("q2_0", row)[2]), 0 | 3 << 2 | 2 << 4 | 1 << 6);
  for (int i = 0; i < 512; ++i) row[i] = i * 7 % 5 < 2 ? -2 : 2;
  expect_weights("q1_0", only_bytes("q1_0", row), row);
  EXPECT_EQ(std::to_integer<int>(only_bytes("q1_0", row)[2]), 0b11010110);
  for (int i = 0; i < 512; ++i)
    row[i] = static_cast<float>(std::ldexp(e2m1(static_cast<unsigned>(i * 7 % 16)), i / 16 % 8 - 3));
  const Bytes bytes = only_bytes("nvfp4", row);
  expect_weights("nvfp4", bytes, row);
  EXPECT_EQ(std::to_integer<int>(bytes[0]), 4 << 3);  // 2^(4 - 7)
}

// Codewords of ggml's grids: how a block of one of these types is built, for a search over all codewords with plain loops.
struct WordType {
  std::string_view method;
  std::size_t words, weights;  // codewords of the grid, and weights of each
  std::size_t shared;          // weights with a common choice of delta; 0: no delta
  bool even;                   // signs of eight weights
};
constexpr WordType kWordTypes[] = {
    {"iq2_xxs", 256, 8, 0, true}, {"iq2_xs", 512, 8, 0, true}, {"iq2_s", 1024, 8, 0, false},
    {"iq3_xxs", 256, 4, 0, true}, {"iq3_s", 512, 4, 0, false}, {"iq1_s", 2048, 8, 32, false},
    {"iq1_m", 2048, 8, 8, false},
};

using Levels = std::array<double, 8>;

std::vector<Levels> words_of(const WordType& type) {
  using namespace codec::ggml;
  std::vector<Levels> words(type.words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t word = type.method == "iq2_xxs"   ? kIq2XxsGrid[i]
                               : type.method == "iq2_xs"  ? kIq2XsGrid[i]
                               : type.method == "iq2_s"   ? kIq2SGrid[i]
                               : type.method == "iq3_xxs" ? kIq3XxsGrid[i]
                               : type.method == "iq3_s"   ? kIq3SGrid[i]
                                                          : kIq1Grid[i];
    for (std::size_t j = 0; j < type.weights; ++j) words[i][j] = static_cast<std::int8_t>(word >> (8 * j) & 255);
  }
  return words;
}

// The least weighted loss of `count` weights with the scale t: every codeword, every choice of delta, every choice of signs.
double least_loss(const WordType& type, const std::vector<Levels>& words, const float* x, const float* p, double t,
                  std::size_t count) {
  constexpr double kNever = 1e300;
  const auto loss = [&](std::size_t i, double value) { return p[i] * (x[i] - t * value) * (x[i] - t * value); };
  double least = kNever;
  for (const double delta : type.shared == 0 ? std::vector<double>{0} : std::vector<double>{-1, 1}) {
    double sum = 0;
    for (std::size_t g = 0; g < count; g += 8) {
      // The least loss with an even and with an odd number of minus signs.
      double even = 0, odd = kNever;
      for (std::size_t w = g; w < g + 8; w += type.weights) {
        double word_even = kNever, word_odd = kNever;
        for (const Levels& v : words) {
          double a = 0, b = kNever;
          for (std::size_t j = 0; j < type.weights; ++j) {
            const double plus = loss(w + j, v[j] + delta), minus = type.shared == 0 ? loss(w + j, -v[j]) : kNever;
            const double next = std::min(a + plus, b + minus);
            b = std::min(a + minus, b + plus);
            a = next;
          }
          word_even = std::min(word_even, a);
          word_odd = std::min(word_odd, b);
        }
        const double next = std::min(even + word_even, odd + word_odd);
        odd = std::min(even + word_odd, odd + word_even);
        even = next;
      }
      sum += type.even || type.shared != 0 ? even : std::min(even, odd);
    }
    least = std::min(least, sum);
  }
  return least;
}

// For the scales that were chosen, no other codewords, signs or deltas lose less.
TEST(GgmlEncode, FindsTheBestCodewords) {
  const std::vector<float> values = weights(Weights::laplace, 256, 21);
  std::vector<float> importance = weights(Weights::gaussian, 256, 22);
  for (float& one : importance) one = std::fabs(one) * 40 + 0.01F;
  const float most = *std::ranges::max_element(importance);
  for (const WordType& word_type : kWordTypes) {
    const Type& type = type_of(word_type.method);
    const std::vector<Levels> words = words_of(word_type);
    std::set<double> magnitudes;
    for (const Levels& word : words)
      for (std::size_t j = 0; j < word_type.weights; ++j)
        for (const double delta : word_type.shared == 0 ? std::vector<double>{0} : std::vector<double>{-1, 1})
          magnitudes.insert(std::fabs(word[j] + delta));
    const Bytes bytes = payload_of(encoded(word_type.method, values, 256, {.importance = importance}));
    const std::size_t count = std::max<std::size_t>(8, word_type.shared);
    for (std::size_t first = 0; first < 256; first += count) {
      double lost = 0, difference = 1e300;
      std::vector<float> p(count);
      for (std::size_t i = 0; i < count; ++i) {
        p[i] = importance[first + i] / most;
        const double off = values[first + i] - type.value({bytes.data()}, first + i);
        lost += p[i] * off * off;
      }
      // The scale: all values of the group are multiples of it.
      for (const double one : magnitudes) {
        const double t = std::fabs(type.value({bytes.data()}, first)) / one;
        bool fits = true;
        for (std::size_t i = 0; i < count; ++i) {
          const double multiple = std::fabs(type.value({bytes.data()}, first + i)) / t;
          fits = fits && std::ranges::any_of(magnitudes, [&](double m) { return std::fabs(m - multiple) < 1e-9; });
        }
        if (fits)
          difference = std::min(difference,
                                std::fabs(lost / least_loss(word_type, words, &values[first], p.data(), t, count) - 1));
      }
      EXPECT_LT(difference, 1e-4) << word_type.method << ", weight " << first;
    }
  }
}

TEST(GgmlEncode, LosesNoMoreThanGgmlAndNoMoreThanFast) {
  constexpr std::size_t kColumns = 1024, kCount = 64 * kColumns;
  const std::vector<float> samples[] = {weights(Weights::gaussian, kCount, 1), student_weights(kCount),
                                        weights(Weights::laplace, kCount, 2)};
  for (const Expected& expected : kExpected)
    for (std::size_t i = 0; i < 3; ++i) {
      const double most = i == 0 ? expected.gaussian : i == 1 ? expected.student : expected.laplace;
      const auto report = std::make_shared<EncodeReport>();
      const Tensor searched = encoded(expected.method, samples[i], kColumns, {.report = report});
      const double error = relative_error(samples[i], searched.values<float>());
      EXPECT_LE(error, most) << expected.method << ", sample " << i;
      // A much lower error would indicate a mistake in this test.
      EXPECT_GE(error, most / 2) << expected.method << ", sample " << i;
      const Tensor fast = encoded(expected.method, samples[i], kColumns, {.fast = true});
      EXPECT_LE(error, relative_error(samples[i], fast.values<float>())) << expected.method << ", sample " << i;
      EXPECT_NEAR(std::sqrt(report->squared_error / report->squared_sum), error, 1e-9);
    }
}

TEST(GgmlEncode, ImportanceLowersTheErrorThatItWeighs) {
  constexpr std::size_t kColumns = 1024;
  const std::vector<float> values = weights(Weights::gaussian, 16 * kColumns, 4);
  std::vector<float> importance = weights(Weights::laplace, kColumns, 5);
  for (float& one : importance) one = std::fabs(one) * 1000;
  importance[7] = 0;
  for (const Expected& expected : kExpected) {
    const auto weighted = encoded(expected.method, values, kColumns, {.importance = importance}).values<float>();
    const auto plain = encoded(expected.method, values, kColumns).values<float>();
    EXPECT_LT(relative_error(values, weighted, importance), relative_error(values, plain, importance))
        << expected.method;
    EXPECT_TRUE(find_codec_by_method(expected.method)->weighted) << expected.method;
    // Equal importance is the same as none; zero importance still gives valid blocks.
    const auto payload = [&](const How& options) {
      return payload_of(encoded(expected.method, values, kColumns, options));
    };
    EXPECT_TRUE(payload({.importance = std::vector<float>(kColumns, 3)}) == payload({})) << expected.method;
    const auto without = encoded(expected.method, values, kColumns, {.importance = std::vector<float>(kColumns)});
    EXPECT_LT(relative_error(values, without.values<float>()), std::max(0.5, expected.gaussian)) << expected.method;
  }
}

// Zeros, subnormal and tiny weights, outliers, weights near the limits of f16, ties; in rows with odd numbers of
// blocks.
TEST(GgmlEncode, TheSameBytesOnEverySimdTarget) {
  constexpr std::size_t kColumns = 768, kRows = 13;
  const std::vector<float> odd = weights(Weights::odd, kRows * kColumns, 6);
  std::vector<float> importance = weights(Weights::laplace, kColumns, 7);
  for (std::size_t i = 0; i < kColumns; ++i) importance[i] = i / 32 % 5 == 1 ? 0 : std::fabs(importance[i]);
  for (const Expected& expected : kExpected) {
    std::vector<float> values = odd;
    if (expected.method.starts_with("iq") && !expected.method.starts_with("iq4"))  // they take longest
      values.resize(3 * kColumns);
    if (expected.method == "nvfp4")  // its largest scale is 448
      for (float& value : values) value = std::clamp(value, -2688.0F, 2688.0F);
    for (const How& options : {How{.fast = true}, How{}, How{.importance = importance}}) {
      std::map<Bytes, std::int64_t> found;
      for_each_simd_target([&] { found[payload_of(encoded(expected.method, values, kColumns, options))]; });
      EXPECT_EQ(found.size(), 1U) << expected.method << (options.fast ? " fast" : "");
    }
  }
}

// The bytes written for the same weights never change, on any machine. FNV-1a of the blocks: searched, and with importance.
TEST(GgmlEncode, WritesTheSameBytesAsEver) {
  struct Golden {
    std::string_view method;
    std::uint64_t plain, weighted;
  };
  constexpr Golden kGolden[] = {
      {"iq1_s", 0x2DA6D18FE6826B5Fu, 0x568BC2552124DE49u},   {"iq1_m", 0xFEC8AA4BB630237Eu, 0x3C874FA5456C43B6u},
      {"iq2_xxs", 0x7A6955D8B0A360B5u, 0xF99DE6FFC5BEE401u}, {"iq2_xs", 0xF34A80818A52B827u, 0x5FFDBC814861D218u},
      {"iq2_s", 0xAB2CA08C398A864Bu, 0x18C8A16FA4CFABD1u},   {"iq3_xxs", 0x46832106D68B741Du, 0xD2C5E29A9AAD7B46u},
      {"iq3_s", 0x7032002A845FA843u, 0x574BD2DD7B724F84u},   {"tq1_0", 0xF3AFE9EB382B175Fu, 0x3CC6BCFF71D833E5u},
      {"tq2_0", 0x89223FD9709569A1u, 0xED3D5AC97766C8C6u},   {"nvfp4", 0x352E4CC280C99497u, 0x09AE2F8F53C179CFu},
      {"q1_0", 0xDC37077FEC01E093u, 0xB09289071A8681D8u},    {"q2_0", 0x52081FBBD53974D4u, 0x93B7D5D34705FB09u},
  };
  constexpr std::size_t kColumns = 512;
  // Sums of integers: no logarithm that another library might round differently.
  std::mt19937_64 random(31);
  const auto sum_of_four = [&] {
    int sum = 0;
    for (std::uint64_t bits = random(); bits != 0; bits >>= 16) sum += static_cast<int>(bits & 0xFFFF) - 0x8000;
    return static_cast<float>(sum) * 0x1p-21F;
  };
  std::vector<float> values(3 * kColumns), importance(kColumns);
  for (float& value : values) value = sum_of_four();
  for (std::size_t i = 0; i < kColumns; ++i) importance[i] = i % 64 == 3 ? 0 : std::fabs(sum_of_four());
  const auto hash = [](const Bytes& bytes) {
    std::uint64_t sum = 0xCBF29CE484222325u;
    for (const std::byte byte : bytes) sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3u;
    return sum;
  };
  for (const auto& [method, plain, weighted] : kGolden) {
    EXPECT_EQ(hash(payload_of(encoded(method, values, kColumns))), plain) << method;
    EXPECT_EQ(hash(payload_of(encoded(method, values, kColumns, {.importance = importance}))), weighted) << method;
  }
}

TEST(GgmlEncode, ZerosAreExactAndSmallWeightsAreNotLost) {
  for (const Expected& expected : kExpected)
    for (const bool fast : {true, false}) {
      SCOPED_TRACE(expected.method);
      const std::vector<float> zeros(256);
      const Tensor tensor = encoded(expected.method, zeros, 256, {.fast = fast});
      for (const float value : tensor.values<float>()) ASSERT_EQ(std::bit_cast<std::uint32_t>(value), 0U);
      // The scales are below f16's normal numbers; 127 steps of 2^-24 are the coarsest scale of Q8_0.
      std::vector<float> small = weights(Weights::gaussian, 256, 8);
      for (float& weight : small) weight *= 0x1p-8F;
      const auto back = encoded(expected.method, small, 256, {.fast = fast}).values<float>();
      // The least scale of NVFP4 is 2^-9.
      EXPECT_LE(relative_error(small, back),
                expected.method == "nvfp4" ? 1 : std::max(0.5, fast ? 0.95 : 1.1 * expected.gaussian));
    }
}

TEST(GgmlEncode, CountsScalesThatAreSubnormal) {
  const auto subnormal = [](std::string_view method, float factor) {
    std::vector<float> values = weights(Weights::gaussian, 2048, 9);
    for (float& value : values) value *= factor;
    const auto report = std::make_shared<EncodeReport>();
    (void)payload_of(encoded(method, values, 1024, {.report = report}));
    EXPECT_TRUE(report->complete);
    return std::pair(report->scales, report->subnormal_scales);
  };
  EXPECT_EQ(subnormal("q4_0", 1), std::pair(std::uint64_t{64}, std::uint64_t{0}));
  EXPECT_EQ(subnormal("q4_0", 0x1p-10F), std::pair(std::uint64_t{64}, std::uint64_t{64}));
  EXPECT_EQ(subnormal("q4_k", 1000).first, 16U);  // d and dmin
  EXPECT_EQ(subnormal("mxfp4", 1).first, 0U);
}

TEST(GgmlEncode, RefusesWhatItCannotHold) {
  for (const Expected& expected : kExpected) {
    const std::string method(expected.method);
    const auto rule = [&](float weight, const How& options) {
      std::vector<float> values(1024, 0.5F);
      values[700] = weight;
      return rule_of([&] { (void)payload_of(encoded(method, values, 512, options)); });
    };
    for (const bool fast : {true, false}) {
      // MXFP4's exponent covers every f32.
      EXPECT_EQ(rule(-1e9F, {.fast = fast}), method == "mxfp4" ? "" : "ggml.overflow") << method;
      EXPECT_EQ(rule(3e38F, {.fast = fast}), method == "mxfp4" ? "" : "ggml.overflow") << method;
      EXPECT_EQ(rule(3e38F, {.fast = fast, .clip = std::pair(-1.0F, 1.0F)}), "") << method;
      EXPECT_EQ(rule(std::numeric_limits<float>::infinity(), {.fast = fast}), "ggml.nonfinite") << method;
    }
    EXPECT_EQ(rule(1, {.importance = {1, 2}}), "ggml.importance");
    EXPECT_EQ(rule(1, {.importance = std::vector<float>(512, -1)}), "ggml.importance");
  }
  EXPECT_EQ(rule_of([] { (void)encoded("q4_k", std::vector<float>(384), 128); }), "ggml.row");
}

}  // namespace
}  // namespace tare
