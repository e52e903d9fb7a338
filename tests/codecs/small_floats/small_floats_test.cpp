// 4- and 6-bit floats: every code, the order of the bits, reading from the middle, and sizes that do not fit.
#include <gtest/gtest.h>

#include <cmath>

#include "base/endian.hpp"
#include "tare/codec.hpp"

namespace tare {
namespace {

Tensor packed(std::string layout, Shape shape, std::vector<unsigned> bytes) {
  Tensor tensor;
  tensor.name = "t";
  tensor.layout = std::move(layout);
  tensor.shape = std::move(shape);
  Bytes payload;
  for (const unsigned b : bytes) payload.push_back(static_cast<std::byte>(b));
  tensor.components.push_back({"payload", DType::u8, "", Blob::memory(std::move(payload))});
  return tensor;
}

std::vector<float> decoded(const Tensor& tensor) {
  const Bytes bytes = to_dense(tensor).components[0].blob.bytes();
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(&bytes[i * 4]);
  return values;
}

std::string rule(const Tensor& tensor) {
  const auto problem = find_codec(tensor.layout)->check(tensor);
  return problem ? problem->rule : "";
}

// Directly from the definition: sign, exponent, fraction.
float value_of(unsigned code, unsigned exponent_bits, unsigned mantissa_bits, int bias) {
  const unsigned fraction = code & ((1u << mantissa_bits) - 1);
  const unsigned exponent = code >> mantissa_bits & ((1u << exponent_bits) - 1);
  const double scale = std::ldexp(1.0, -static_cast<int>(mantissa_bits));
  const double value = exponent == 0 ? std::ldexp(fraction * scale, 1 - bias)
                                     : std::ldexp(1 + fraction * scale, static_cast<int>(exponent) - bias);
  return static_cast<float>((code >> (exponent_bits + mantissa_bits)) != 0 ? -value : value);
}

TEST(SmallFloats, EveryCodeOfFourBits) {
  std::vector<unsigned> bytes;
  for (unsigned code = 0; code < 16; code += 2) bytes.push_back(code | (code + 1) << 4);
  const auto values = decoded(packed("packed.f4_e2m1", {4, 4}, bytes));
  ASSERT_EQ(values.size(), 16U);
  for (unsigned code = 0; code < 16; ++code) EXPECT_EQ(values[code], value_of(code, 2, 1, 1)) << code;
  EXPECT_EQ(values[7], 6);
  EXPECT_EQ(values[1], 0.5);
}

TEST(SmallFloats, EveryCodeOfSixBits) {
  for (const bool fine : {true, false}) {
    std::vector<unsigned> bytes;
    for (unsigned code = 0; code < 64; code += 4) {
      const unsigned word = code | (code + 1) << 6 | (code + 2) << 12 | (code + 3) << 18;
      for (unsigned i = 0; i < 3; ++i) bytes.push_back(word >> (8 * i) & 0xFF);
    }
    const auto values = decoded(packed(fine ? "packed.f6_e2m3" : "packed.f6_e3m2", {64}, bytes));
    ASSERT_EQ(values.size(), 64U);
    for (unsigned code = 0; code < 64; ++code)
      EXPECT_EQ(values[code], fine ? value_of(code, 2, 3, 1) : value_of(code, 3, 2, 3)) << code;
    EXPECT_EQ(values[31], fine ? 7.5F : 28.0F);
  }
}

TEST(SmallFloats, EnteredAnywhereItIsTheSame) {
  std::vector<unsigned> bytes(4001);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned>(i * 37 + i / 256) & 0xFF;
  const Tensor tensor = packed("packed.f4_e2m1", {2 * bytes.size()}, bytes);
  const Blob blob = to_dense(tensor).components[0].blob;
  const Bytes whole = blob.bytes();
  ASSERT_EQ(whole.size(), bytes.size() * 8);
  EXPECT_GT(blob.seek_granularity(), 0U);
  for (const std::uint64_t offset : {0U, 1U, 23U, 24U, 25U, 12288U, 12289U, 24 * 1024U, 32007U}) {
    Bytes part(std::min<std::uint64_t>(50, whole.size() - offset));
    blob.read(offset, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(offset))) << offset;
  }
}

TEST(SmallFloats, WhatDoesNotFitIsSaid) {
  EXPECT_EQ(rule(packed("packed.f4_e2m1", {3, 2}, {1, 2, 3})), "");
  EXPECT_EQ(rule(packed("packed.f4_e2m1", {0, 3}, {})), "");
  EXPECT_EQ(rule(packed("packed.f4_e2m1", {3}, {1, 2})), "packed.bits");
  EXPECT_EQ(rule(packed("packed.f4_e2m1", {}, {1})), "packed.bits");
  EXPECT_EQ(rule(packed("packed.f6_e3m2", {4}, {1, 2, 3})), "");
  EXPECT_EQ(rule(packed("packed.f6_e3m2", {2}, {1, 2})), "packed.bits");
  EXPECT_EQ(rule(packed("packed.f6_e2m3", {std::uint64_t{1} << 63}, {1})), "packed.bits");
  EXPECT_EQ(rule(packed("packed.f4_e2m1", {4}, {1})), "packed.size");
  Tensor tensor = packed("packed.f4_e2m1", {4}, {1, 2});
  tensor.components[0].dtype = DType::i8;
  EXPECT_EQ(rule(tensor), "packed.type");
  tensor.components[0].role = "data";
  EXPECT_EQ(rule(tensor), "packed.components");
  EXPECT_TRUE(decoded(packed("packed.f6_e2m3", {0}, {})).empty());
}

}  // namespace
}  // namespace tare
