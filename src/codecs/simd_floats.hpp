// Loops over floats, with whatever SIMD the processor has. The results are the same, bit for bit, on every one.
#pragma once

#include <cstddef>

namespace tare {

// sums[i] = sum over k of factors[k] * rows[k * stride + i], taken in the order of k, each step rounded to f32.
void sum_products(const float* factors, const float* rows, std::size_t stride, std::size_t terms, std::size_t count,
                  float* sums);

// Floats as bf16, rounded to nearest even as base/half.hpp has it; both little-endian, of any alignment. Returns how many
// finite ones became infinite.
std::size_t floats_to_bf16(const std::byte* floats, std::size_t count, std::byte* out);

}  // namespace tare
