// Loops over floats, with the best SIMD of the processor. The results are the same on every processor, bit for bit.
#pragma once

#include <cstddef>

namespace tare {

// sums[i] = sum over k of factors[k] * rows[k * stride + i], in the order of k, each step rounded to f32.
void sum_products(const float* factors, const float* rows, std::size_t stride, std::size_t terms, std::size_t count,
                  float* sums);

// Converts floats to bf16, rounded to nearest even like base/half.hpp; both little-endian, of any alignment. Returns
// how many finite floats became infinite.
std::size_t floats_to_bf16(const std::byte* floats, std::size_t count, std::byte* out);

}  // namespace tare
