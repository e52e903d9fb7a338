// ggml's block types, which GGUF files contain: one table row per type.
//
// blocks32.cpp, blocks256.cpp and blocks_grids.cpp have the formulas; encode.hpp describes how the types that have a
// method are encoded. Blocks never cross the end of a row.
//
//   type     weights bytes   in a block (f16 unless another type is given)
//   q4_0         32    18    d, 16 x 2 codes
//   q4_1         32    20    d, minimum, 16 x 2 codes
//   q5_0         32    22    d, u32 fifth bits, 16 x 2 codes
//   q5_1         32    24    d, minimum, u32 fifth bits, 16 x 2 codes
//   q8_0         32    34    d, 32 i8
//   q8_1         32    36    d, d times the sum of the codes, 32 i8
//   q2_k        256    84    16 x scale and minimum of 4 bits, 64 x 4 codes, d, dmin
//   q3_k        256   110    32 x 8 third bits, 64 x 4 codes, 12 bytes of scales, d
//   q4_k        256   144    d, dmin, 12 bytes of scales and minimums, 128 x 2 codes
//   q5_k        256   176    d, dmin, 12 bytes of scales and minimums, 32 x 8 fifth bits, 128 x 2 codes
//   q6_k        256   210    128 x 2 low halves, 64 x 4 high bits, 16 i8 scales, d
//   q8_k        256   292    f32 d, 256 i8, 16 i16 sums
//   iq4_nl       32    18    d, 16 x 2 codes of a table
//   iq4_xs      256   136    d, u16 high bits and 4 bytes of low halves of the scales, 128 x 2 codes of a table
//   tq1_0       256    54    52 bytes of codes to the base of 3, d
//   tq2_0       256    66    64 x 4 codes, d
//   mxfp4        32    17    u8 exponent, 16 x 2 floats of 4 bits
//   nvfp4        64    36    4 floats of 8 bits, 32 x 2 floats of 4 bits
//   q1_0        128    18    d, 128 signs
//   q2_0         64    18    d, 16 x 4 codes
//   iq2_xxs     256    66    d, 8 x (4 codewords, u32: 4 x 7 signs, scale of 4 bits)
//   iq2_xs      256    74    d, 32 u16: codeword of 9 bits, 7 signs, 8 x 2 scales
//   iq2_s       256    82    d, 32 codewords, 32 x 8 signs, 8 x 4 high bits of the codewords, 8 x 2 scales
//   iq3_xxs     256    98    d, 64 codewords, 8 u32: 4 x 7 signs, scale of 4 bits
//   iq3_s       256   110    d, 64 codewords, 8 x 8 ninth bits, 32 x 8 signs, 4 x 2 scales
//   iq1_s       256    50    d, 32 codewords, 8 u16: 4 x 3 high bits, scale of 3 bits, sign of the shift
//   iq1_m       256    56    32 codewords, 16 x 2 (3 high bits, sign of the shift), 4 u16: 4 x 3-bit scale, 4 bits of d
#include <cmath>

#include "codecs/block_codec.hpp"
#include "codecs/ggml/blocks.hpp"
#include "codecs/ggml/encode.hpp"
#include "codecs/ggml/kernels.hpp"
#include "codecs/ggml/parts.hpp"
#include "codecs/rows.hpp"

namespace tare::codec::ggml {

std::optional<FirstBlock> explain(const Tensor& tensor);  // fields.cpp

namespace {

const char* fault_of_iq1_m(const std::byte* block) {
  return std::isfinite(iq1_m_half(block)) ? nullptr : "its scale is not a finite number";
}
// Checks that the f16 at these offsets are finite.
template <std::size_t... kAt>
const char* fault_of_halves(const std::byte* block) {
  return (std::isfinite(half_at(block + kAt)) && ...) ? nullptr : "a scale or minimum is not a finite number";
}
const char* fault_of_float(const std::byte* block) {
  return std::isfinite(load_le<float>(block)) ? nullptr : "its scale is not a finite number";
}
const char* fault_of_exponent(const std::byte* block) {
  return byte_at(block, 0) != 255 ? nullptr : "its exponent is 255, which is not a number";
}

using Fault = const char* (*)(const std::byte* block);
using Encode = std::size_t (*)(const BlockWeights& in, std::byte* blocks);

constexpr std::uint8_t kAt0[] = {0}, kAt0And2[] = {0, 2}, kAt80And82[] = {80, 82}, kAt108[] = {108}, kAt208[] = {208};

template <Type kType>
constexpr BlockCodec type(std::string_view layout, std::string_view title, std::uint64_t weights, std::uint64_t bytes,
                          Fault fault) {
  return {
      .layout = layout,
      .title = title,
      .rules = "ggml",
      .weights = weights,
      .bytes = bytes,
      .decode = [](const std::byte* blocks, std::size_t count, float* out) { ggml::decode(kType, blocks, count, out); },
      .dot = [](const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector,
                float* out) { ggml::dot(kType, blocks, rows, count, vector, out); },
      .dot8 = [](const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector& vector,
                 float* out) { ggml::dot(kType, blocks, rows, count, vector.data(), out); },
      .fault = fault};
}

// Adds an encoder. `scales`: the offsets of the f16 scales in a block.
constexpr BlockCodec coded(BlockCodec type, std::string_view method, Encode encode,
                           std::span<const std::uint8_t> scales, std::string_view fallback = {}) {
  type.method = {method};
  type.fallback = fallback;
  type.encode = encode;
  type.weighted = true;
  type.budget_if_named = true;  // containers that accept any layout have better ones
  type.scales = scales;
  return type;
}

constexpr BlockCodec kQ4_0 = coded(
    type<Type::q4_0>("ggml.q4_0", "4 bits with a scale for every 32 weights, as in ggml", 32, 18, fault_of_halves<0>),
    "q4_0", encode_q4_0, kAt0);
constexpr BlockCodec kQ4_1 =
    coded(type<Type::q4_1>("ggml.q4_1", "4 bits with a scale and a minimum for every 32 weights, as in ggml", 32, 20,
                           fault_of_halves<0, 2>),
          "q4_1", encode_q4_1, kAt0);
constexpr BlockCodec kQ5_0 = coded(
    type<Type::q5_0>("ggml.q5_0", "5 bits with a scale for every 32 weights, as in ggml", 32, 22, fault_of_halves<0>),
    "q5_0", encode_q5_0, kAt0);
constexpr BlockCodec kQ5_1 =
    coded(type<Type::q5_1>("ggml.q5_1", "5 bits with a scale and a minimum for every 32 weights, as in ggml", 32, 24,
                           fault_of_halves<0, 2>),
          "q5_1", encode_q5_1, kAt0);
constexpr BlockCodec kQ8_0 = coded(
    type<Type::q8_0>("ggml.q8_0", "8 bits with a scale for every 32 weights, as in ggml", 32, 34, fault_of_halves<0>),
    "q8_0", encode_q8_0, kAt0);
constexpr BlockCodec kQ8_1 = type<Type::q8_1>(
    "ggml.q8_1", "8 bits with a scale and a sum for every 32 values: activations", 32, 36, fault_of_halves<0, 2>);
constexpr BlockCodec kQ2K =
    coded(type<Type::q2_k>("ggml.q2_k", "2 bits with scales and minimums for every 256 and every 16 weights", 256, 84,
                           fault_of_halves<80, 82>),
          "q2_k", encode_q2_k, kAt80And82, "q4_0");
constexpr BlockCodec kQ3K = coded(type<Type::q3_k>("ggml.q3_k", "3 bits with scales for every 256 and every 16 weights",
                                                   256, 110, fault_of_halves<108>),
                                  "q3_k", encode_q3_k, kAt108, "q4_0");
constexpr BlockCodec kQ4K =
    coded(type<Type::q4_k>("ggml.q4_k", "4 bits with scales and minimums for every 256 and every 32 weights", 256, 144,
                           fault_of_halves<0, 2>),
          "q4_k", encode_q4_k, kAt0And2, "q5_0");
constexpr BlockCodec kQ5K =
    coded(type<Type::q5_k>("ggml.q5_k", "5 bits with scales and minimums for every 256 and every 32 weights", 256, 176,
                           fault_of_halves<0, 2>),
          "q5_k", encode_q5_k, kAt0And2, "q5_1");
constexpr BlockCodec kQ6K = coded(type<Type::q6_k>("ggml.q6_k", "6 bits with scales for every 256 and every 16 weights",
                                                   256, 210, fault_of_halves<208>),
                                  "q6_k", encode_q6_k, kAt208, "q8_0");
constexpr BlockCodec kQ8K = type<Type::q8_k>(
    "ggml.q8_k", "8 bits with a scale and sums for every 256 values: activations", 256, 292, fault_of_float);
constexpr BlockCodec kIq4Nl =
    coded(type<Type::iq4_nl>("ggml.iq4_nl", "4 bits of a table with a scale for every 32 weights", 32, 18,
                             fault_of_halves<0>),
          "iq4_nl", encode_iq4_nl, kAt0);
constexpr BlockCodec kIq4Xs =
    coded(type<Type::iq4_xs>("ggml.iq4_xs", "4 bits of a table with scales for every 256 and every 32 weights", 256,
                             136, fault_of_halves<0>),
          "iq4_xs", encode_iq4_xs, kAt0, "iq4_nl");
constexpr BlockCodec kTq1_0 = type<Type::tq1_0>(
    "ggml.tq1_0", "-1, 0 or 1, five in a byte, with a scale for every 256 weights", 256, 54, fault_of_halves<52>);
constexpr BlockCodec kTq2_0 = type<Type::tq2_0>("ggml.tq2_0", "-1, 0 or 1 in 2 bits with a scale for every 256 weights",
                                                256, 66, fault_of_halves<64>);
constexpr BlockCodec kMxfp4 =
    coded(type<Type::mxfp4>("ggml.mxfp4", "4-bit floats with an exponent for every 32 weights (MXFP4)", 32, 17,
                            fault_of_exponent),
          "mxfp4", encode_mxfp4, {});
constexpr BlockCodec kNvfp4 =
    type<Type::nvfp4>("ggml.nvfp4", "4-bit floats with an 8-bit float for every 16 weights (NVFP4)", 64, 36, nullptr);
constexpr BlockCodec kQ1_0 =
    type<Type::q1_0>("ggml.q1_0", "1 bit with a scale for every 128 weights", 128, 18, fault_of_halves<0>);
constexpr BlockCodec kQ2_0 =
    type<Type::q2_0>("ggml.q2_0", "2 bits with a scale for every 64 weights", 64, 18, fault_of_halves<0>);
constexpr BlockCodec kIq2Xxs =
    type<Type::iq2_xxs>("ggml.iq2_xxs", "2.06 bits: codewords for 8 weights, scales for every 256 and every 32", 256,
                        66, fault_of_halves<0>);
constexpr BlockCodec kIq2Xs =
    type<Type::iq2_xs>("ggml.iq2_xs", "2.31 bits: codewords for 8 weights, scales for every 256 and every 16", 256, 74,
                       fault_of_halves<0>);
constexpr BlockCodec kIq2S = type<Type::iq2_s>(
    "ggml.iq2_s", "2.56 bits: codewords for 8 weights, scales for every 256 and every 16", 256, 82, fault_of_halves<0>);
constexpr BlockCodec kIq3Xxs =
    type<Type::iq3_xxs>("ggml.iq3_xxs", "3.06 bits: codewords for 4 weights, scales for every 256 and every 32", 256,
                        98, fault_of_halves<0>);
constexpr BlockCodec kIq3S =
    type<Type::iq3_s>("ggml.iq3_s", "3.44 bits: codewords for 4 weights, scales for every 256 and every 32", 256, 110,
                      fault_of_halves<0>);
constexpr BlockCodec kIq1S = type<Type::iq1_s>(
    "ggml.iq1_s", "1.56 bits: codewords for 8 weights, scales for every 256 and every 32", 256, 50, fault_of_halves<0>);
constexpr BlockCodec kIq1M = type<Type::iq1_m>(
    "ggml.iq1_m", "1.75 bits: codewords for 8 weights, scales for every 256 and every 16", 256, 56, fault_of_iq1_m);

}  // namespace

constexpr std::array<Codec, 27> kCodecs = [] {
  std::array<Codec, 27> rows = {
      block_row<kQ4_0>(),   block_row<kQ4_1>(),  block_row<kQ5_0>(),  block_row<kQ5_1>(),   block_row<kQ8_0>(),
      block_row<kQ8_1>(),   block_row<kQ2K>(),   block_row<kQ3K>(),   block_row<kQ4K>(),    block_row<kQ5K>(),
      block_row<kQ6K>(),    block_row<kQ8K>(),   block_row<kIq4Nl>(), block_row<kIq4Xs>(),  block_row<kTq1_0>(),
      block_row<kTq2_0>(),  block_row<kMxfp4>(), block_row<kNvfp4>(), block_row<kQ1_0>(),   block_row<kQ2_0>(),
      block_row<kIq2Xxs>(), block_row<kIq2Xs>(), block_row<kIq2S>(),  block_row<kIq3Xxs>(), block_row<kIq3S>(),
      block_row<kIq1S>(),   block_row<kIq1M>(),
  };
  for (Codec& row : rows) row.explain = explain;
  return rows;
}();

}  // namespace tare::codec::ggml
