// quantized_group: refusals, findings, decoding and encoding.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "base/half.hpp"
#include "codecs/layout_samples.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

using namespace layout_samples;

Tensor group(Shape shape, int bits, int group_size, const std::vector<std::uint32_t>& words, const Floats& scales,
             const Floats& zeros) {
  Tensor tensor;
  tensor.name = "q";
  tensor.shape = std::move(shape);
  tensor.layout = "quantized_group";
  tensor.components.push_back(part("packed_weight", DType::i32, packed(words)));
  tensor.components.push_back(part("scales", DType::f32, packed(scales)));
  tensor.components.push_back(part("zeros", DType::f32, packed(zeros)));
  tensor.attributes.set("bits", bits);
  tensor.attributes.set("group_size", group_size);
  tensor.attributes.set("packing", std::to_string(32 / bits) + "_per_i32");
  return tensor;
}

TEST(ZtGroup, DecodesByHand) {
  // Two rows of 5 columns, groups of 2: codes 1 2 | 3 4 | 5 and 15 14 | 13 12 | 11, lowest bits first.
  const Tensor tensor =
      group({2, 5}, 4, 2, {0x00054321, 0x000BCDEF}, {1, 10, 100, 0.5f, 0.25f, 2}, {0, 3, 5, 15, 12, 1});
  EXPECT_EQ(check_rule(tensor), "");
  EXPECT_EQ(verify_rules(tensor), Rules{});
  const Floats expected = {1, 2, 0, 10, 0, 0, -0.5f, 0.25f, 0, 20};
  EXPECT_EQ(decoded(tensor), expected);
  EXPECT_EQ(decoded(sequential(tensor)), expected);
  expect_enterable(to_dense(tensor).component("data")->blob);
  EXPECT_EQ(to_dense(tensor).attributes.find("bits"), nullptr);
  EXPECT_EQ(to_dense(tensor).component("data")->dtype, DType::f32);
}

TEST(ZtGroup, Check) {
  const Tensor good = group({2, 5}, 4, 2, {1, 2}, Floats(6), Floats(6));
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1}, Floats(6), Floats(6))), "group.size");
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1, 2}, Floats(5), Floats(6))), "group.size");
  EXPECT_EQ(check_rule(group({2, 5}, 4, 2, {1, 2}, Floats(6), Floats(7))), "group.size");
  EXPECT_EQ(check_rule(group({UINT64_MAX, 5}, 4, 2, {1, 2}, Floats(6), Floats(6))), "group.size");
  for (const char* role : {"packed_weight", "scales", "zeros"}) {
    Tensor tensor = good;
    component(tensor, role).role = "other";
    EXPECT_EQ(check_rule(tensor), "group.missing") << role;
  }
}

// Carried unchanged, whatever their sizes, and not decoded.
TEST(ZtGroup, UnknownParametersAreCarried) {
  const Tensor good = group({2, 5}, 4, 2, {1}, {}, {});
  const auto expect_carried = [](const Tensor& tensor) {
    EXPECT_EQ(check_rule(tensor), "");
    EXPECT_EQ(verify_rules(tensor), Rules{});
    EXPECT_EQ(decode_rule(tensor), "group.packing");
  };
  for (const Value& packing : {Value("4_per_i32"), Value("8_per_i64"), Value("_per_i32"), Value("-8_per_i32"), Value(8),
                               Value("99999999999999999999_per_i32"), Value()}) {
    Tensor tensor = good;
    tensor.attributes.set("packing", packing);
    expect_carried(tensor);
  }
  for (const Value& bits : {Value(3), Value(0), Value(-4), Value("4"), Value(4.0), Value(INT64_MAX)}) {
    Tensor tensor = good;
    tensor.attributes.set("bits", bits);
    expect_carried(tensor);
  }
  for (const Value& size : {Value(0), Value(-1), Value("2")}) {
    Tensor tensor = good;
    tensor.attributes.set("group_size", size);
    expect_carried(tensor);
  }
  Tensor tensor = good;
  tensor.attributes = {};
  expect_carried(tensor);
  tensor = good;
  tensor.shape = {2, 5, 1};
  expect_carried(tensor);
  tensor = good;
  component(tensor, "packed_weight").dtype = DType::u8;
  expect_carried(tensor);
}

TEST(ZtGroup, AGroupMayBeWiderThanTheRow) {
  Tensor tensor = group({2, 3}, 8, 128, {0x00030201, 0x00060504}, {1, 2}, {0, 4});
  EXPECT_EQ(decoded(tensor), Floats({1, 2, 3, 0, 2, 4}));
  tensor.attributes.set("group_size", INT64_MAX);
  EXPECT_EQ(decoded(tensor), Floats({1, 2, 3, 0, 2, 4}));
}

TEST(ZtGroup, RowsOfAboutOneWord) {
  std::mt19937 random(5);
  constexpr std::uint64_t kRows = 700;
  for (const int bits : {2, 4, 8}) {
    const auto per_word = static_cast<std::uint64_t>(32 / bits);
    for (std::uint64_t columns = 1; columns <= per_word + 2; ++columns)
      for (const std::uint64_t size : {std::uint64_t{1}, columns, per_word}) {
        const std::uint64_t words = (columns + per_word - 1) / per_word, groups = (columns + size - 1) / size;
        std::vector<std::uint32_t> codes(kRows * words);
        Floats scales(kRows * groups), zeros(kRows * groups), expected;
        for (std::uint32_t& word : codes) word = random();
        for (float& scale : scales) scale = static_cast<float>(random() % 9) / 4 - 1;
        for (float& zero : zeros) zero = static_cast<float>(random() % (1u << bits));
        for (std::uint64_t row = 0; row < kRows; ++row)
          for (std::uint64_t i = 0; i < columns; ++i) {
            const std::uint32_t word = codes[row * words + i / per_word];
            const std::uint32_t code =
                word >> (static_cast<unsigned>(i % per_word) * static_cast<unsigned>(bits)) & ((1u << bits) - 1);
            const std::uint64_t group = row * groups + i / size;
            expected.push_back(scales[group] * (static_cast<float>(code) - zeros[group]));
          }
        const Tensor tensor = group({kRows, columns}, bits, static_cast<int>(size), codes, scales, zeros);
        ASSERT_EQ(decoded(tensor), expected) << bits << " " << columns << " " << size;
        ASSERT_EQ(decoded(sequential(tensor)), expected) << bits << " " << columns << " " << size;
      }
  }
}

TEST(ZtGroup, VerifyData) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, inf, NAN, 0}, {0, 0, 0, 255})), Rules{"group.scale"});
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, 1, 1, 1}, {0, -1, 0, 0})), Rules{"group.zero"});
  EXPECT_EQ(verify_rules(group({2, 4}, 8, 2, {1, 2}, {1, 1, 1, 1}, {0, 256, NAN, 0})), Rules{"group.zero"});
  EXPECT_EQ(verify_rules(group({2, 3}, 8, 3, {1, 0x01000000}, {1, 1}, {0, 0})), Rules{"group.unused_bits"});
  EXPECT_EQ(verify_rules(group({0, 4}, 8, 2, {}, {}, {})), Rules{});
  EXPECT_EQ(verify_rules(group({std::uint64_t{1} << 62, 0}, 8, 2, {}, {}, {})), Rules{});
}

Tensor random_matrix(std::uint64_t rows, std::uint64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.02f);
  Floats values(rows * columns);
  for (float& v : values) v = normal(random);
  return dense("w", {rows, columns}, DType::f32, Blob::memory(packed(values)));
}

Tensor encode(const Tensor& tensor, const std::string& method) {
  return find_codec_by_method(method)->encode(tensor, {method, 1});
}

TEST(ZtGroupEncode, StaysWithinHalfAStep) {
  for (const auto& [method, bits] : std::map<std::string, int>{{"group2", 2}, {"zt.group4", 4}, {"group8", 8}}) {
    for (const std::uint64_t columns : {1u, 127u, 128u, 300u, 1024u}) {
      const Tensor input = random_matrix(5, columns, 11);
      const Tensor coded = encode(input, method);
      EXPECT_EQ(coded.layout, "quantized_group");
      EXPECT_EQ(coded.shape, input.shape);
      EXPECT_EQ(coded.attributes.find("bits")->data(), Value(bits).data());
      EXPECT_EQ(coded.attributes.find("group_size")->data(), Value(128).data());
      EXPECT_EQ(*coded.attributes.find("packing")->text(), std::to_string(32 / bits) + "_per_i32");
      ASSERT_EQ(check_rule(coded), "");
      EXPECT_EQ(verify_rules(coded), Rules{});
      const Floats in = unpacked<float>(input.component("data")->blob.bytes()), out = decoded(coded);
      const auto scales = unpacked<std::uint16_t>(coded.component("scales")->blob.bytes());
      const std::size_t groups = (columns + 127) / 128;
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float scale = f16_to_f32(scales[i / columns * groups + i % columns / 128]);
        // Half a step for the code, half a step for the rounding of the zero-point at the ends of the range, and a
        // little for the rounding of the scale.
        ASSERT_LE(std::fabs(in[i] - out[i]), scale * 1.02f) << method << " " << i;
      }
    }
  }
}

// What is read together has no influence: the bytes are those of each row by itself.
TEST(ZtGroupEncode, EachRowByItself) {
  for (const std::uint64_t columns : {1u, 3u, 128u, 129u}) {
    constexpr std::uint64_t kRows = 1500;
    const Tensor input = random_matrix(kRows, columns, 3), coded = encode(input, "group2");
    for (const Component& component : coded.components) {
      const Bytes all = component.blob.bytes();
      const std::size_t each = all.size() / kRows;
      for (const std::uint64_t row : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1024}, kRows - 1}) {
        const Bytes data = input.component("data")->blob.bytes();
        const auto begin = data.begin() + static_cast<std::ptrdiff_t>(row * columns * 4);
        const Tensor alone = encode(dense("w", {1, columns}, DType::f32,
                                          Blob::memory(Bytes(begin, begin + static_cast<std::ptrdiff_t>(columns * 4)))),
                                    "group2");
        const Bytes made = alone.component(component.role)->blob.bytes();
        ASSERT_EQ(made.size(), each);
        EXPECT_TRUE(std::equal(made.begin(), made.end(), all.begin() + static_cast<std::ptrdiff_t>(row * each)))
            << component.role << " " << columns << " " << row;
      }
      expect_enterable(component.blob);
    }
  }
}

TEST(ZtGroupEncode, ByHand) {
  // Range [-1, 2] in 3 steps of 1: zero 1, codes 0 1 2 3; 0.4 rounds to 0, 1.6 to 2.
  const Tensor coded =
      encode(dense("w", {1, 6}, DType::f32, Blob::memory(packed<float>({-1, 0, 1, 2, 0.4f, 1.6f}))), "group2");
  EXPECT_EQ(unpacked<std::uint32_t>(coded.component("packed_weight")->blob.bytes()),
            std::vector<std::uint32_t>({0b11'01'11'10'01'00}));
  EXPECT_EQ(unpacked<std::uint16_t>(coded.component("scales")->blob.bytes()), std::vector<std::uint16_t>({0x3C00}));
  EXPECT_EQ(unpacked<std::uint16_t>(coded.component("zeros")->blob.bytes()), std::vector<std::uint16_t>({0x3C00}));
  EXPECT_EQ(decoded(coded), Floats({-1, 0, 1, 2, 0, 2}));
}

TEST(ZtGroupEncode, ZeroAndConstantGroups) {
  Floats values(3 * 128);
  std::fill_n(values.begin() + 128, 128, 5.0f);
  std::fill_n(values.begin() + 256, 128, -3.0f);
  const Tensor coded = encode(dense("w", {3, 128}, DType::f32, Blob::memory(packed(values))), "group8");
  const Floats out = decoded(coded);
  EXPECT_EQ(Floats(out.begin(), out.begin() + 128), Floats(128));
  EXPECT_NEAR(out[128], 5, 0.02);
  EXPECT_NEAR(out[256], -3, 0.02);
  EXPECT_EQ(verify_rules(coded), Rules{});
}

TEST(ZtGroupEncode, TinyWeightsDoNotOutgrowTheirCodes) {
  // The exact scale is between two subnormal f16 numbers: rounded down, the largest weight would be clipped.
  for (const double scale : {1.4 * 0x1p-24, 0.3 * 0x1p-24, 7.49 * 0x1p-24}) {
    const auto high = static_cast<float>(15 * scale);
    const Tensor coded = encode(dense("w", {1, 2}, DType::f32, Blob::memory(packed<float>({high, 0}))), "group4");
    EXPECT_NEAR(decoded(coded)[0], high, 0x1p-24);
  }
}

TEST(ZtGroupEncode, OtherInputsOfTheSameValuesGiveTheSameBytes) {
  const Tensor half = cast(random_matrix(3, 200, 5), DType::bf16);
  const Tensor coded = encode(half, "group4"), wide = encode(cast(half, DType::f64), "group4");
  const Tensor slow = encode(sequential(half), "group4");
  for (const Component& c : coded.components) {
    EXPECT_EQ(c.blob.bytes(), wide.component(c.role)->blob.bytes()) << c.role;
    EXPECT_EQ(c.blob.bytes(), slow.component(c.role)->blob.bytes()) << c.role;
    EXPECT_EQ(slow.component(c.role)->blob.seek_granularity(), 0u);
    EXPECT_NE(c.blob.seek_granularity(), 0u);
    expect_enterable(c.blob);
  }
}

TEST(ZtGroupEncode, Refuses) {
  const auto rule_of = [](const Tensor& tensor, const std::string& method = "group4") -> std::string {
    try {
      const Tensor coded = find_codec("quantized_group")->encode(tensor, {method, 1});
      for (const Component& c : coded.components) c.blob.bytes();
    } catch (const Error& error) {
      EXPECT_EQ(error.item(), method == "group4" ? "w" : "");
      return error.rule() + ": " + error.sentence();
    }
    return "";
  };
  Floats values(2 * 300);
  values[300 + 290] = std::numeric_limits<float>::infinity();
  const auto matrix = [&] { return dense("w", {2, 300}, DType::f32, Blob::memory(packed(values))); };
  EXPECT_EQ(rule_of(matrix()).find("group.nonfinite: element [1, 290] is inf"), 0u) << rule_of(matrix());
  values[300 + 290] = NAN;
  EXPECT_EQ(rule_of(matrix()).find("group.nonfinite: element [1, 290] is nan"), 0u);
  values[300 + 290] = 3e38f;
  EXPECT_EQ(rule_of(matrix()).find("group.overflow"), 0u);
  EXPECT_EQ(rule_of(dense("w", {4}, DType::f32, Blob::memory(Bytes(16)))).find("group.rank"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::i32, Blob::memory(Bytes(16)))).find("group.type"), 0u);
  EXPECT_EQ(rule_of(dense("w", {1, 2}, DType::f32, Blob::memory(Bytes(16)), "complex64")).find("group.type"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::f32, Blob::memory(Bytes(16))), "group5").find("group.method"), 0u);
  EXPECT_EQ(rule_of(dense("w", {2, 2}, DType::f32, Blob::memory(Bytes(15)))).find("group.input"), 0u);
}

TEST(ZtGroupEncode, EmptyMatrices) {
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}}) {
    const Tensor coded = encode(dense("w", shape, DType::f32, Blob::memory({})), "group4");
    EXPECT_EQ(check_rule(coded), "");
    EXPECT_EQ(verify_rules(coded), Rules{});
    EXPECT_EQ(decoded(coded), Floats{});
  }
}

}  // namespace
}  // namespace tare
