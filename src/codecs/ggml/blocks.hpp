// Reference decoders of ggml's blocks, one weight at a time; kernels.hpp must agree with them. Each function takes
// `count` whole blocks, one after the other.
//
// The values are those of ggml's own C code, bit for bit: products and sums in f32, in the same order, without fused
// multiply-adds.
#pragma once

#include <cstddef>

#include "codecs/ggml/kernels.hpp"

namespace tare::codec::ggml {

// Blocks of 32 weights with a scale (and a minimum).
void decode_q4_0(const std::byte* block, std::size_t count, float* out);
void decode_q4_1(const std::byte* block, std::size_t count, float* out);
void decode_q5_0(const std::byte* block, std::size_t count, float* out);
void decode_q5_1(const std::byte* block, std::size_t count, float* out);
void decode_q8_0(const std::byte* block, std::size_t count, float* out);
void decode_q8_1(const std::byte* block, std::size_t count, float* out);
void decode_iq4_nl(const std::byte* block, std::size_t count, float* out);
void decode_mxfp4(const std::byte* block, std::size_t count, float* out);
void decode_nvfp4(const std::byte* block, std::size_t count, float* out);
void decode_q1_0(const std::byte* block, std::size_t count, float* out);
void decode_q2_0(const std::byte* block, std::size_t count, float* out);

// Blocks of 256 weights with a scale for each part.
void decode_q2_k(const std::byte* block, std::size_t count, float* out);
void decode_q3_k(const std::byte* block, std::size_t count, float* out);
void decode_q4_k(const std::byte* block, std::size_t count, float* out);
void decode_q5_k(const std::byte* block, std::size_t count, float* out);
void decode_q6_k(const std::byte* block, std::size_t count, float* out);
void decode_q8_k(const std::byte* block, std::size_t count, float* out);
void decode_iq4_xs(const std::byte* block, std::size_t count, float* out);
void decode_tq1_0(const std::byte* block, std::size_t count, float* out);
void decode_tq2_0(const std::byte* block, std::size_t count, float* out);

// Blocks of 256 weights with codewords for four or eight weights.
void decode_iq2_xxs(const std::byte* block, std::size_t count, float* out);
void decode_iq2_xs(const std::byte* block, std::size_t count, float* out);
void decode_iq2_s(const std::byte* block, std::size_t count, float* out);
void decode_iq3_xxs(const std::byte* block, std::size_t count, float* out);
void decode_iq3_s(const std::byte* block, std::size_t count, float* out);
void decode_iq1_s(const std::byte* block, std::size_t count, float* out);
void decode_iq1_m(const std::byte* block, std::size_t count, float* out);

struct BlockShape {
  std::size_t weights, bytes;
};
BlockShape shape_of(Type type);
// Calls the decoder of the type.
void reference_decode(Type type, const std::byte* blocks, std::size_t count, float* out);

}  // namespace tare::codec::ggml
