// Arithmetic on the vector of one token, with the best SIMD of the processor: what generating needs in addition to the panels of
// kernels.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tare::run {

// How floats are stored, little-endian.
enum class Stored : std::uint8_t { f32, bf16, f16 };
inline std::size_t bytes_of(Stored type) { return type == Stored::f32 ? 4 : 2; }

// out[r] = row r times x, for `rows` rows of `columns` floats, one after another and not necessarily aligned.
void multiply_rows(Stored type, const std::byte* w, std::size_t rows, std::size_t columns, const float* x, float* out);

// out = x normalized as in kernels.hpp; `weight` may be null, and `out` may be `x`.
void normalize_vector(bool rms, const float* x, const float* weight, std::size_t count, float epsilon, float* out);

// One head of one token: out = softmax(scale * q k^T) v over `positions` rows of k, each `stride` apart, and of v, each
// `value_stride` apart. A soft cap of 0 is none. `scores`: scratch for `positions` floats.
struct HeadJob {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  std::size_t head = 0, stride = 0;              // elements per query and key
  std::size_t value_head = 0, value_stride = 0;  // the same for values
  std::size_t positions = 0;
  float scale = 1, soft_cap = 0;
  float sink = -std::numeric_limits<float>::infinity();  // as in kernels.hpp
  float* out = nullptr;
};
void attend_vector(const HeadJob& job, float* scores);

}  // namespace tare::run
