// ggml's block types: every weight of random blocks by the formula of its type, one element at a time in double
// precision, and the promises of a table row. tests/codecs/ggml/interop.py compares with the package of ggml's authors.
#include <cmath>
#include <cstring>
#include <random>

#include "base/endian.hpp"
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/kernels.hpp"
#include "codecs/ggml/types.hpp"
#include "codecs/quantized_vector.hpp"
#include "conformance/models.hpp"
#include "simd_targets.hpp"
#include "tare/codec.hpp"
#include "tare/rows.hpp"

namespace tare {
namespace {

using namespace tare::testing;
using namespace tare::testing::ggml;

TEST(Ggml, EveryTypeByItsFormula) {
  constexpr std::size_t kRows = 5, kBlocks = 3;
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.layout);
    const Bytes payload = random_blocks(type, kRows * kBlocks);
    const Tensor tensor = tensor_of(type, payload, {kRows, kBlocks * type.weights});
    const std::vector<float> found = tensor.values<float>();
    ASSERT_EQ(found.size(), kRows * kBlocks * type.weights);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double expected = type.value({payload.data() + i / type.weights * type.bytes}, i % type.weights);
      // Sums of two products are rounded to f32.
      ASSERT_NEAR(found[i], expected, std::max(std::fabs(expected), 1.0) * 1e-6) << i;
    }
  }
}

// Digests of what the package `gguf` (0.19) decodes from the same bytes, because codewords have no formula.
TEST(Ggml, CodewordsAreThoseOfThePackage) {
  struct Golden {
    std::string_view layout;
    std::size_t bytes;
    std::string_view sha256;  // of 8 blocks
  };
  constexpr Golden kGolden[] = {
      {"ggml.iq2_xxs", 66, "e1c0962c11689d8ef3459af5483ee9c2b45845a536b5d8abf3e7ca874cbb996b"},
      {"ggml.iq2_xs", 74, "3f132b5013d0528d471bce87597b002aac1d55b670a9e5038b472c599e7c8181"},
      {"ggml.iq2_s", 82, "fa938942db7a105ba0cabd56899a8163dc83a0260fba91f80c5372cdca7984d0"},
      {"ggml.iq3_xxs", 98, "583e6692a958381541339525b327a523b3644e6b9af6e8e9ccde57a6e6d4d40e"},
      {"ggml.iq3_s", 110, "b528c7da817d3f0a4b4688e75add8934b9e317b7abaab7466440cfc96e070f0b"},
      {"ggml.iq1_s", 50, "9c72e9a257520dffb1ed48ff68efbaf4374aee7d9904f4d2cbd0a12bc9c272d7"},
      {"ggml.iq1_m", 56, "b147c3053dfa7a2febc02bbfc99ddca04ad99ca0ee17cd4ba34fa91aca25c5b0"},
  };
  for (const auto& [layout, bytes, sha256] : kGolden) {
    SCOPED_TRACE(layout);
    const auto type = std::ranges::find(kTypes, layout, &Type::layout);
    Bytes payload(8 * bytes);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 97 + 13);
    for (std::byte* block = payload.data(); block != payload.data() + payload.size(); block += bytes) {
      if (layout == "ggml.iq1_m") {
        block[55] = (block[55] & std::byte{15}) | std::byte{0x30};
        block[53] = (block[53] & std::byte{15}) | std::byte{0xC0};
      } else {
        store_le<std::uint16_t>(block, 0x3C00);
      }
    }
    std::vector<float> values = tensor_of(*type, payload, {8, 256}).values<float>();
    Bytes little(values.size() * sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i) store_le(little.data() + 4 * i, values[i]);
    EXPECT_EQ(digest_of(DigestAlgorithm::sha256, little).hex(), sha256);
  }
}

TEST(Ggml, EveryTypeIsInTheTableOnce) {
  std::size_t count = 0;
  for (const Codec& codec : codecs()) count += codec.layout.starts_with("ggml.") ? 1 : 0;
  EXPECT_EQ(count, std::size(kTypes));
  for (const Type& type : kTypes) EXPECT_NE(find_codec(type.layout), nullptr) << type.layout;
}

// Whole and partial chunks of 256 weights, on every SIMD target, compared with the function of the type.
TEST(Ggml, EverySimdTargetDecodesTheSameBits) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    SCOPED_TRACE(kTypes[i].layout);
    for (const std::size_t blocks : {1U, 7U, 8U, 29U}) {
      const Bytes payload = random_blocks(kTypes[i], blocks);
      std::vector<float> expected(blocks * kTypes[i].weights), found(expected.size());
      const auto type = static_cast<codec::ggml::Type>(i);
      codec::ggml::reference_decode(type, payload.data(), blocks, expected.data());
      for_each_simd_target([&] {
        std::fill(found.begin(), found.end(), -1.0F);
        codec::ggml::decode(type, payload.data(), blocks, found.data());
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0);
      });
    }
  }
}

// Arbitrary bytes, including scales that are infinite or NaN. The bits of a NaN depend on the processor.
TEST(Ggml, EverySimdTargetDecodesAnyBytes) {
  std::mt19937 random(7);
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    SCOPED_TRACE(kTypes[i].layout);
    constexpr std::size_t kBlocks = 400;
    Bytes payload(kBlocks * kTypes[i].bytes);
    for (std::byte& byte : payload) byte = random() % 4 == 0 ? std::byte{0x7C} : static_cast<std::byte>(random());
    std::vector<float> expected(kBlocks * kTypes[i].weights), found(expected.size());
    const auto type = static_cast<codec::ggml::Type>(i);
    codec::ggml::reference_decode(type, payload.data(), kBlocks, expected.data());
    for_each_simd_target([&] {
      codec::ggml::decode(type, payload.data(), kBlocks, found.data());
      std::size_t different = 0;
      for (std::size_t k = 0; k < found.size(); ++k)
        if (std::memcmp(&found[k], &expected[k], sizeof(float)) != 0)
          different += std::isnan(found[k]) && std::isnan(expected[k]) ? 0 : 1;
      EXPECT_EQ(different, 0U);
    });
  }
}

// With floats, and with 8-bit codes.
TEST(Ggml, RowsMultiplyAsTheirValuesDo) {
  for (const Type& type : kTypes) {
    SCOPED_TRACE(type.layout);
    const Tensor tensor = tensor_of(type, random_blocks(type, 15), {3, 5 * type.weights});
    const std::vector<float> values = tensor.values<float>();
    std::vector<float> vector(5 * type.weights);
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = static_cast<float>(i * 7 % 31) / 4 - 3;
    const QuantizedVector codes(vector);
    for_each_simd_target([&] {
      std::vector<float> products(3), products8(3);
      find_codec(type.layout)->rows(tensor)->dot(0, 3, vector, products);
      find_codec(type.layout)->rows(tensor)->dot(0, 3, codes, products8);
      for (std::size_t row = 0; row < 3; ++row) {
        double expected = 0, expected8 = 0, size = 0;
        for (std::size_t i = 0; i < vector.size(); ++i) {
          const double weight = values[row * vector.size() + i];
          expected += weight * vector[i];
          expected8 += weight * codes.data().codes[i] * static_cast<double>(codes.data().scales[i / 32]);
          size += std::fabs(weight * vector[i]);
        }
        EXPECT_NEAR(products[row], expected, size * 1e-5);
        EXPECT_NEAR(products8[row], expected8, size * 1e-5);
      }
    });
  }
}

TEST(Ggml, WhatIsWrong) {
  const Type& type = kTypes[0];
  const auto rule = [&](const Tensor& tensor) {
    const auto problem = find_codec(tensor.layout)->check(tensor);
    return problem ? problem->rule : std::string();
  };
  EXPECT_EQ(rule(tensor_of(type, random_blocks(type, 2), {2, 32})), "");
  EXPECT_NE(rule(tensor_of(type, random_blocks(type, 2), {2, 31})), "");
  EXPECT_NE(rule(tensor_of(type, random_blocks(type, 1), {2, 32})), "");
  Bytes infinite = random_blocks(type, 2);
  store_le<std::uint16_t>(infinite.data() + type.bytes, 0x7C00);
  std::vector<Problem> found;
  find_codec(type.layout)->verify(tensor_of(type, infinite, {2, 32}), [&](Problem problem) {
    found.push_back(problem);
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].rule.starts_with("ggml.")) << found[0].rule;
}

}  // namespace
}  // namespace tare
