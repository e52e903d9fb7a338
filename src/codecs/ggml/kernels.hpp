// Decoding and row products with the best SIMD of the processor.
//
// The decoded weights are those of blocks.hpp, bit for bit. Products are f32 sums in another order: they differ from
// exact ones by at most (columns / 4 + 16) * 2^-24 times the sum of the magnitudes that are added. On one machine they
// are the same in every call.
#pragma once

#include <cstddef>

#include "codecs/ggml/type_table.hpp"
#include "codecs/quantized_vector.hpp"

namespace tare::codec::ggml {

void decode(Type type, const std::byte* blocks, std::size_t count, float* out);
// Products of `rows` rows of `count` blocks each with a vector.
void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out);
void dot(Type type, const std::byte* blocks, std::size_t rows, std::size_t count, const QuantizedVector::Data& vector,
         float* out);

}  // namespace tare::codec::ggml
