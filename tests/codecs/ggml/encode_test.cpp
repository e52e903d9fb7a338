// Encoding to ggml's types: blocks with known bytes, the loss on realistic weights, and the same bytes on every SIMD
// target.
#include "codecs/ggml/encode.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

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
    {"q8_0", .00536, .00678, .0064}, {"q4_0", .0859, .1078, .1035},   {"q4_1", .0783, .0900, .0825},
    {"q5_0", .0427, .0538, .0515},   {"q5_1", .0379, .0435, .0405},   {"q2_k", .2961, .3302, .2910},
    {"q3_k", .1508, .1760, .1700},   {"q4_k", .0716, .0833, .0830},   {"q5_k", .0363, .0421, .0412},
    {"q6_k", .0178, .0217, .0205},   {"iq4_nl", .0761, .0886, .0855}, {"iq4_xs", .0768, .0899, .0860},
    {"mxfp4", .1140, .1264, .1235},
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
    EXPECT_LT(relative_error(values, without.values<float>()), 0.5) << expected.method;
  }
}

// Zeros, subnormal and tiny weights, outliers, weights near the limits of f16, ties; in rows with odd numbers of
// blocks.
TEST(GgmlEncode, TheSameBytesOnEverySimdTarget) {
  constexpr std::size_t kColumns = 768, kRows = 13;
  const std::vector<float> values = weights(Weights::odd, kRows * kColumns, 6);
  std::vector<float> importance = weights(Weights::laplace, kColumns, 7);
  for (std::size_t i = 0; i < kColumns; ++i) importance[i] = i / 32 % 5 == 1 ? 0 : std::fabs(importance[i]);
  for (const Expected& expected : kExpected)
    for (const How& options : {How{.fast = true}, How{}, How{.importance = importance}}) {
      std::map<Bytes, std::int64_t> found;
      for_each_simd_target([&] { found[payload_of(encoded(expected.method, values, kColumns, options))]; });
      EXPECT_EQ(found.size(), 1U) << expected.method << (options.fast ? " fast" : "");
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
      EXPECT_LT(relative_error(small, back), 0.5);
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
