// Decoding and row products with the best SIMD of the processor.
//
// The decoded weights are those of blocks.hpp, bit for bit. Products are f32 sums in another order: they differ from
// exact ones by at most (columns / 4 + 16) * 2^-24 times the sum of the magnitudes that are added. On one machine they
// are the same in every call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/quantized_vector.hpp"

namespace tare::codec::ggml {

enum class Type : std::uint8_t {
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q8_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  q8_k,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0,
  q2_0,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq1_s,
  iq1_m
};

void decode(Type type, const std::byte* blocks, std::size_t count, float* out);
// Products of `rows` rows of `count` blocks each with a vector.
void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out);
void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector::Data& vector,
         float* out);

}  // namespace tare::codec::ggml
