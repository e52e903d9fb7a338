// ggml's Q4_0 on the framework for block codecs, as an example of a small codec. Only the tests' table has this row.
//
//   block   f16 d, then 16 bytes: weight i in the low half of byte i, weight i + 16 in the high half
//   decode  d * (q - 8)
//   encode  d = m / -8, m the first weight of the largest magnitude; q = trunc(w / d + 8.5), at most 15, with d in f32
#pragma once

#include <algorithm>
#include <cmath>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "codecs/block_codec.hpp"

namespace tare::codec::toy {

inline constexpr std::size_t kWeights = 32, kBytes = 18;
inline constexpr std::uint8_t kScales[] = {0};  // offsets of the scales

inline float scale_of(const std::byte* block) { return f16_to_f32(load_le<std::uint16_t>(block)); }

inline void decode_q4_0(const std::byte* block, std::size_t count, float* out) {
  for (; count > 0; --count, block += kBytes, out += kWeights)
    for (std::size_t i = 0; i < kWeights / 2; ++i) {
      const int codes = std::to_integer<int>(block[2 + i]);
      out[i] = scale_of(block) * static_cast<float>((codes & 15) - 8);
      out[i + kWeights / 2] = scale_of(block) * static_cast<float>((codes >> 4) - 8);
    }
}

inline bool encode_block(const float* weights, std::byte* block) {
  const auto smaller = [](float a, float b) { return std::fabs(a) < std::fabs(b); };
  const float d = *std::max_element(weights, weights + kWeights, smaller) / -8;
  // A scale whose inverse exceeds f32 is 0 as f16.
  const float inverse = std::fabs(d) < 0x1p-126F ? 0 : 1 / d;
  const auto code = [&](std::size_t i) { return std::min(15, static_cast<int>(weights[i] * inverse + 8.5F)); };
  store_le<std::uint16_t>(block, f32_to_f16(d));
  for (std::size_t i = 0; i < kWeights / 2; ++i)
    block[2 + i] = static_cast<std::byte>(code(i) | code(i + kWeights / 2) << 4);
  return std::isfinite(scale_of(block));
}

inline std::size_t encode_q4_0(const BlockWeights& in, std::byte* blocks) {
  std::size_t done = 0;
  while (done < in.count && encode_block(in.weights + done * kWeights, blocks + done * kBytes)) ++done;
  return done;
}

inline float dot_row(const std::byte* block, std::size_t count, const float* vector) {
  float sum = 0;
  for (; count > 0; --count, block += kBytes, vector += kWeights) {
    float products = 0;
    for (std::size_t i = 0; i < kWeights / 2; ++i) {
      const int codes = std::to_integer<int>(block[2 + i]);
      products += static_cast<float>((codes & 15) - 8) * vector[i];
      products += static_cast<float>((codes >> 4) - 8) * vector[i + kWeights / 2];
    }
    sum += scale_of(block) * products;
  }
  return sum;
}

inline void dot_q4_0(const std::byte* blocks, std::size_t rows, std::size_t count, const float* vector, float* out) {
  for (std::size_t row = 0; row < rows; ++row) out[row] = dot_row(blocks + row * count * kBytes, count, vector);
}

inline const char* fault_of(const std::byte* block) {
  return std::isfinite(scale_of(block)) ? nullptr : "its scale is not a finite number";
}

inline constexpr BlockCodec kQ4_0 = {.layout = "toy.q4_0",
                                     .title = "4 bits with a scale for every 32 weights, as ggml has them",
                                     .rules = "toy",
                                     .weights = kWeights,
                                     .bytes = kBytes,
                                     .method = {"toy4"},
                                     .decode = decode_q4_0,
                                     .encode = encode_q4_0,
                                     .scales = kScales,
                                     .dot = dot_q4_0,
                                     .fault = fault_of};

}  // namespace tare::codec::toy
