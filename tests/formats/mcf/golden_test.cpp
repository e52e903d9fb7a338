// Payloads of MCF's methods, computed by hand from the specification, byte for byte, with the arithmetic.
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/mcf/kernels.hpp"
#include "codecs/mcf/layout.hpp"
#include "codecs/mcf/reference.hpp"
#include "tare/codec.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

// A payload given as runs at offsets, with zeros between them.
struct Run {
  std::size_t offset;
  std::initializer_list<int> bytes;
};

Bytes spell(std::size_t size, std::initializer_list<Run> runs) {
  Bytes payload(size);
  for (const Run& run : runs) {
    std::size_t at = run.offset;
    for (const int byte : run.bytes) payload.at(at++) = static_cast<std::byte>(byte);
  }
  return payload;
}

Tensor coded(std::string_view layout, Shape shape, const Bytes& payload,
             codec::mcf::Domain domain = codec::mcf::Domain::weights) {
  Tensor tensor;
  tensor.name = "w";
  tensor.shape = std::move(shape);
  tensor.layout = layout;
  codec::mcf::set_attributes(tensor.attributes, {domain, -1, 1});
  tensor.components.push_back({"payload", DType::u8, {}, Blob::memory(payload)});
  return tensor;
}

std::vector<float> values_of(const Tensor& tensor) {
  const Tensor dense = to_dense(tensor);
  const Bytes bytes = dense.component("data")->blob.bytes();
  std::vector<float> values(bytes.size() / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_le<float>(&bytes[4 * i]);
  return values;
}

// The `fast` encoding of a matrix with q* or k*.
Bytes encoded(std::string_view method_name, Shape shape, const std::vector<float>& weights) {
  const auto geometry =
      codec::mcf::geometry_of(*codec::mcf::find_method(method_name), codec::mcf::Domain::weights, shape).value();
  Bytes payload(static_cast<std::size_t>(geometry.bytes));
  const std::uint64_t scales = geometry.supers != 0 ? geometry.supers : geometry.blocks;
  for (std::uint64_t row = 0; row < geometry.rows; ++row) {
    const codec::mcf::RowTarget target = {payload.data() + geometry.scales.offset + 2 * row * scales,
                                          payload.data() + geometry.sub_scales.offset + row * geometry.blocks,
                                          payload.data() + geometry.codes.offset + row * geometry.row_code_bytes()};
    const auto part = std::span(weights).subspan(static_cast<std::size_t>(row * geometry.columns),
                                                 static_cast<std::size_t>(geometry.columns));
    EXPECT_FALSE(codec::mcf::reference_encode_row(*geometry.method, part, target).has_value());
  }
  return payload;
}

// Encoding the weights gives the payload, and decoding the payload gives the weights back.
void expect_both(std::string_view method, Shape shape, const std::vector<float>& weights, const Bytes& payload) {
  EXPECT_EQ(encoded(method, shape, weights), payload);
  const Tensor tensor = coded(codec::mcf::find_method(method)->layout, shape, payload);
  EXPECT_FALSE(find_codec(tensor.layout)->check(tensor).has_value());
  EXPECT_EQ(values_of(tensor), weights);
  find_codec(tensor.layout)->verify(tensor, [](const Problem& problem) { FAIL() << problem.rule << problem.sentence; });
}

// f16: 0.5 = 0x3800, 1.0 = 0x3C00, 2.0 = 0x4000.

TEST(McfGolden, Q8) {
  // Two rows of 3 columns: one block each, blocksPerRow = ceil(3 / 32) = 1.
  //   BlockScales  2 f16 at 0..4; QuantData at align64(4) = 64, 32 bytes a block: 64 + 2 * 32 = 128 bytes in all
  //   row 0: absmax 63.5, s = 63.5 / 127 = 0.5; q = 63.5 / 0.5 = 127, -1.5 / 0.5 = -3, 0
  //   row 1: absmax 254, s = 254 / 127 = 2; q = -254 / 2 = -127, 2 / 2 = 1, 4 / 2 = 2
  expect_both("q8", {2, 3}, {63.5f, -1.5f, 0, -254, 2, 4},
              spell(128, {{0, {0x00, 0x38, 0x00, 0x40}},  // 0.5, 2.0, little-endian
                          {64, {127, 0xFD, 0}},           // -3 = 256 - 3 = 0xFD
                          {96, {0x81, 1, 2}}}));          // -127 = 0x81
}

TEST(McfGolden, Q4) {
  // One row of 35 columns: two blocks; scales at 0..4, codes at 64, 16 bytes a block: 64 + 32 = 96.
  //   block 0: column 0 = 7, column 1 = -7, column 2 = 3, column 31 = -1; s = 7 / 7 = 1; codes 7, -7, 3, 0 ..., -1
  //            bytes: low nibble first: (7, -7 = 0x9) = 0x97, (3, 0) = 0x03, ..., (0, -1 = 0xF) = 0xF0
  //   block 1: columns 32, 33, 34 = 1, -3.5, 0.5; s = 3.5 / 7 = 0.5; codes 2, -7, 1: 0x92, 0x01; the rest is padding
  std::vector<float> weights(35);
  weights[0] = 7, weights[1] = -7, weights[2] = 3, weights[31] = -1;
  weights[32] = 1, weights[33] = -3.5f, weights[34] = 0.5f;
  expect_both("q4", {1, 35}, weights,
              spell(96, {{0, {0x00, 0x3C, 0x00, 0x38}}, {64, {0x97, 0x03}}, {79, {0xF0}}, {80, {0x92, 0x01}}}));
}

TEST(McfGolden, K6) {
  // One row of 36 columns: 2 blocks, 1 super-block.
  //   SuperScales 1 f16 at 0..2; SubScales 2 bytes at 64; QuantData at 128, 24 bytes a block: 128 + 48 = 176
  //   block 0: 31, -31, 1, -2, 0, ...; s = 31 / 31 = 1.  block 1: 15.5, -0.5, 0, 8; s = 15.5 / 31 = 0.5
  //   S = f16(max(1, 0.5)) = 1.0; u = 32 * 1 / 1 = 32, 32 * 0.5 / 1 = 16
  //   block 0: scale 1: codes 31 = 011111, -31 = 100001, 1 = 000001, -2 = 111110; first code in the lowest bits:
  //     111110 000001 100001 011111 = 1111 1000 0001 1000 0101 1111 -> bytes 0x5F, 0x18, 0xF8
  //   block 1: scale 0.5: codes 31, -1 = 111111, 0, 16 = 010000:
  //     010000 000000 111111 011111 = 0100 0000 0000 1111 1101 1111 -> bytes 0xDF, 0x0F, 0x40
  std::vector<float> weights(36);
  weights[0] = 31, weights[1] = -31, weights[2] = 1, weights[3] = -2;
  weights[32] = 15.5f, weights[33] = -0.5f, weights[35] = 8;
  expect_both("k6", {1, 36}, weights,
              spell(176, {{0, {0x00, 0x3C}}, {64, {32, 16}}, {128, {0x5F, 0x18, 0xF8}}, {152, {0xDF, 0x0F, 0x40}}}));
}

TEST(McfGolden, K4) {
  // Two rows of 2 columns: one block and one super-block each.
  //   SuperScales 2 f16 at 0..4; SubScales 2 bytes at 64; QuantData at 128, 16 bytes a block: 128 + 32 = 160
  //   row 0: 14, -4; s = 14 / 7 = 2 = S; u = 32; codes 7, -2 = 0xE: 0xE7.   row 1: zeros; s = 0, S = 0, u = 0
  expect_both("k4", {2, 2}, {14, -4, 0, 0}, spell(160, {{0, {0x00, 0x40}}, {64, {32}}, {128, {0xE7}}}));
}

TEST(McfGolden, K4SubScalesBeyondOne) {
  // Decoding alone: u may be any of 0..63, so a block's scale may be up to 63/32 of the super-block's.
  //   S = 0.5, u = 63: scale 0.5 * 63 / 32 = 0.984375; codes 7, -7: 6.890625, -6.890625
  const Bytes payload = spell(144, {{0, {0x00, 0x38}}, {64, {63}}, {128, {0x97}}});
  EXPECT_EQ(values_of(coded("mcf.k4", {1, 2}, payload)), (std::vector<float>{6.890625f, -6.890625f}));
}

TEST(McfGolden, K3) {
  // One row of 10 columns: SuperScales at 0, SubScales 1 byte at 64, QuantData 12 bytes at 128: 140 in all.
  //   3, -3, 1, -1, 2, -2, 0, 3, -1, 2; s = 3 / 3 = 1, u = 32
  //   codes 3 = 011, -3 = 101, 1 = 001, -1 = 111, 2 = 010, -2 = 110, 0 = 000, 3 = 011, -1 = 111, 2 = 010
  //   first 8, first in the lowest bits: 011 000 110 010 111 001 101 011
  //     = 0110 0011 0010 1110 0110 1011 -> bytes 0x6B, 0x2E, 0x63;  the last two: 010 111 = 0x17
  expect_both("k3", {1, 10}, {3, -3, 1, -1, 2, -2, 0, 3, -1, 2},
              spell(140, {{0, {0x00, 0x3C}}, {64, {32}}, {128, {0x6B, 0x2E, 0x63, 0x17}}}));
}

TEST(McfGolden, K2) {
  // One row of 5 columns: QuantData 8 bytes at 128: 136 in all.
  //   0.5, -0.5, 0, 0.5, -0.5; s = 0.5 / 1 = S; codes 1 = 01, -1 = 11, 0, 1, -1
  //   01 00 11 01 = 0x4D, then 11 = 0x03
  expect_both("k2", {1, 5}, {0.5f, -0.5f, 0, 0.5f, -0.5f},
              spell(136, {{0, {0x00, 0x38}}, {64, {32}}, {128, {0x4D, 0x03}}}));
}

TEST(McfGolden, K2SecondSuperBlock) {
  // 288 columns: 9 blocks, 2 super-blocks, the second of one block. SubScales 9 bytes; codes 9 * 8 = 72 bytes: 200.
  //   column 0 = 1: S = 1, u = 32 for block 0 and 0 for the others of zeros; column 256 = -2: S = 2, code -1 = 11
  std::vector<float> weights(288);
  weights[0] = 1, weights[256] = -2;
  expect_both("k2", {1, 288}, weights,
              spell(200, {{0, {0x00, 0x3C, 0x00, 0x40}}, {64, {32}}, {72, {32}}, {128, {0x01}}, {192, {0x03}}}));
}

// int*: the reference encodes the codes, region by region.
Bytes encoded_raw(std::string_view method_name, codec::mcf::Domain domain, Shape shape,
                  const std::vector<float>& values, float min, float max) {
  const auto geometry = codec::mcf::geometry_of(*codec::mcf::find_method(method_name), domain, shape).value();
  Bytes payload(static_cast<std::size_t>(geometry.bytes));
  const codec::mcf::ScaleZero parameters = codec::mcf::scale_zero(*geometry.method, domain, min, max);
  store_le<float>(&payload[geometry.scales.offset], parameters.scale);
  if (domain == codec::mcf::Domain::activations) store_le<float>(&payload[geometry.zero.offset], parameters.zero);
  codec::mcf::reference_encode_raw(*geometry.method, domain, parameters, values, &payload[geometry.codes.offset], 0);
  return payload;
}

TEST(McfGolden, Int8Weights) {
  // Any rank: 1 x 3 x 1. Scale f32 at 0, codes at 64, one byte each: 67 in all.
  //   absmax 254, S = 254 / 127 = 2 = 0x40000000; codes 127, -1, 3
  const std::vector<float> values = {254, -2, 6};
  const Bytes payload = spell(67, {{0, {0, 0, 0, 0x40}}, {64, {127, 0xFF, 3}}});
  EXPECT_EQ(encoded_raw("int8", codec::mcf::Domain::weights, {1, 3, 1}, values, -2, 254), payload);
  EXPECT_EQ(values_of(coded("mcf.int8", {1, 3, 1}, payload)), values);
}

TEST(McfGolden, Int8Activations) {
  // Scale at 0, zero at 64, codes at 128.
  //   min -28, max 99.5: S = 127.5 / 255 = 0.5 = 0x3F000000;
  //     Z = rint(-128 - (-28 / 0.5)) = -128 + 56 = -72 = 0xC2900000
  //   codes: -28 / 0.5 - 72 = -128, 0 -> -72, 99.5 / 0.5 - 72 = 127
  const std::vector<float> values = {-28, 0, 99.5f};
  const Bytes payload = spell(131, {{0, {0, 0, 0, 0x3F}}, {64, {0, 0, 0x90, 0xC2}}, {128, {0x80, 0xB8, 127}}});
  EXPECT_EQ(encoded_raw("int8", codec::mcf::Domain::activations, {3}, values, -28, 99.5f), payload);
  EXPECT_EQ(values_of(coded("mcf.int8", {3}, payload, codec::mcf::Domain::activations)), values);
}

TEST(McfGolden, Int4Weights) {
  // Codes in row-major order without padding: 3 x 3 = 9 codes in 5 bytes at 64: 69 in all; rows start in mid-byte.
  //   absmax 7, S = 1 = 0x3F800000; codes 1 2 3 / -4 5 -6 / 7 0 -1
  //   (1, 2) = 0x21, (3, -4 = 0xC) = 0xC3, (5, -6 = 0xA) = 0xA5, (7, 0) = 0x07, (-1 = 0xF, nothing) = 0x0F
  const std::vector<float> values = {1, 2, 3, -4, 5, -6, 7, 0, -1};
  const Bytes payload = spell(69, {{0, {0, 0, 0x80, 0x3F}}, {64, {0x21, 0xC3, 0xA5, 0x07, 0x0F}}});
  EXPECT_EQ(encoded_raw("int4", codec::mcf::Domain::weights, {3, 3}, values, -6, 7), payload);
  EXPECT_EQ(values_of(coded("mcf.int4", {3, 3}, payload)), values);
}

TEST(McfGolden, Int4Activations) {
  // min 0, max 15: S = 15 / 15 = 1, Z = rint(-8 - 0) = -8; codes 0 - 8 = -8 = 0x8, 15 - 8 = 7, 3 - 8 = -5 = 0xB
  const std::vector<float> values = {0, 15, 3};
  const Bytes payload = spell(130, {{0, {0, 0, 0x80, 0x3F}}, {64, {0, 0, 0x00, 0xC1}}, {128, {0x78, 0x0B}}});
  EXPECT_EQ(encoded_raw("int4", codec::mcf::Domain::activations, {3}, values, 0, 15), payload);
  EXPECT_EQ(values_of(coded("mcf.int4", {3}, payload, codec::mcf::Domain::activations)), values);
}

TEST(McfGolden, MostNegativeCodesAreDecodedAsWhatTheyAre) {
  // S = 1: -8 in q4, -2 in k2 (u = 32), -128 in q8.
  EXPECT_EQ(values_of(coded("mcf.q4", {1, 1}, spell(80, {{0, {0x00, 0x3C}}, {64, {0x08}}}))), std::vector<float>{-8});
  EXPECT_EQ(values_of(coded("mcf.k2", {1, 1}, spell(136, {{0, {0x00, 0x3C}}, {64, {32}}, {128, {0x02}}}))),
            std::vector<float>{-2});
  EXPECT_EQ(values_of(coded("mcf.q8", {1, 1}, spell(96, {{0, {0x00, 0x3C}}, {64, {0x80}}}))), std::vector<float>{-128});
}

TEST(McfGolden, CodesAreChosenAgainstTheStoredScale) {
  // absmax 0.1: s = 0.1 / 7 = 0.0142857, f16(s) = 0x2350 = 0.01428223. w = 0.04999 is 3.50015 steps of the stored
  // scale, so its code is 4; with the unrounded s it would be 3.4993 steps and the code 3. (w = 0.05 would show no
  // difference: 3.50085 steps, or exactly 3.5, a tie that also rounds to 4.)
  const Bytes payload = encoded("q4", {1, 2}, {0.1f, 0.04999f});
  EXPECT_EQ(load_le<std::uint16_t>(payload.data()), 0x2350);
  EXPECT_EQ(payload[64], std::byte{0x47});
}

TEST(McfGolden, TinyWeightsAreNotLost) {
  // s = 2^-24 / 7 is below f16's least number; the scale is rounded up to 2^-24 = 0x0001, and the code is 1.
  EXPECT_EQ(encoded("q4", {1, 1}, {0x1p-24f}), spell(80, {{0, {0x01, 0x00}}, {64, {0x01}}}));
}

TEST(McfGolden, ScalesBeyondF16AreRefused) {
  // 65504 is the largest f16; s = 1e6 / 7 = 142857.
  const std::vector<float> row = {0, 1e6f};
  Bytes payload(144);
  const codec::mcf::RowTarget target = {payload.data(), payload.data() + 64, payload.data() + 128};
  EXPECT_EQ(codec::mcf::reference_encode_row(*codec::mcf::find_method("q4"), row, target), 0u);
  EXPECT_EQ(codec::mcf::reference_encode_row(*codec::mcf::find_method("k4"), row, target), 0u);
}

TEST(McfGolden, DotByHand) {
  // K3's row above times the vector of 1..10: 3 - 6 + 3 - 4 + 10 - 12 + 0 + 24 - 9 + 20 = 29.
  const Bytes payload = spell(140, {{0, {0x00, 0x3C}}, {64, {32}}, {128, {0x6B, 0x2E, 0x63, 0x17}}});
  const auto geometry =
      codec::mcf::geometry_of(*codec::mcf::find_method("k3"), codec::mcf::Domain::weights, {1, 10}).value();
  const codec::mcf::RowSpan row = codec::mcf::rows_of(geometry, payload.data(), 0, 1);
  const std::vector<float> vector = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(codec::mcf::reference_dot(row, vector), 29);
  float found = 0;
  codec::mcf::dot_rows(row, vector, &found);
  EXPECT_EQ(found, 29);
  // As 8-bit codes with 127 in it d = 1: the vector 127, 2, 0, ... gives 3 * 127 - 3 * 2 = 375 exactly.
  std::vector<float> whole(10);
  whole[0] = 127, whole[1] = 2;
  EXPECT_EQ(codec::mcf::reference_dot(row, reference_vector(whole)), 375);
  codec::mcf::dot_rows(row, quantized(whole), &found);
  EXPECT_EQ(found, 375);
}

}  // namespace
}  // namespace tare
