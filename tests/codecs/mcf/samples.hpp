// Weights to quantize: realistic ones, and adversarial ones.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "codecs/mcf/encode.hpp"
#include "codecs/mcf/encode_search.hpp"

namespace tare::codec::mcf {

enum class Weights { gaussian, laplace, odd };

inline std::vector<float> weights(Weights kind, std::size_t count, unsigned seed) {
  // Not the distributions of the standard library, which differ between implementations.
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<double>((random() >> 11) + 1) * 0x1p-53; };
  std::vector<float> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = -std::log(uniform()), angle = 6.283185307179586 * uniform();
    out[i] = static_cast<float>(0.02 * (kind == Weights::laplace ? std::copysign(radius, std::cos(angle))
                                                                 : std::sqrt(2 * radius) * std::cos(angle)));
  }
  if (kind != Weights::odd) return out;
  for (std::size_t i = 0; i < count; ++i) {
    float& w = out[i];
    switch (i / 32 % 13) {
      case 1: w = 0; break;
      case 2: w *= 1e-30f; break;                                                 // far below the scales of f16
      case 3: w *= 1e-6f; break;                                                  // scales that are subnormal in f16
      case 4: w = i % 32 == 5 ? 30.0f : w; break;                                 // an outlier
      case 5: w = std::ldexp(static_cast<float>(i % 7), -149); break;             // a subnormal number
      case 6: w = std::copysign(65000.0f - static_cast<float>(i % 9), w); break;  // almost beyond f16
      case 7: w = i % 32 == 3 ? 1e-7f : 0.0f; break;
      case 8: w = 1; break;
      case 9: w = i % 2 == 0 ? -0.0f : 2.5f; break;  // ties
      case 10: w *= 1e3f; break;
      default: break;
    }
  }
  return out;
}

inline Tensor matrix(std::span<const float> values, std::uint64_t rows, std::uint64_t columns, std::string name = "w") {
  return dense(std::move(name), Shape{rows, columns}, std::vector<float>(values.begin(), values.end()));
}

// A payload of q* or k* made row by row with the scalar reference.
inline Bytes reference_payload(const Method& method, std::span<const float> values, std::uint64_t rows,
                               std::uint64_t columns, bool fast, std::span<const float> importance = {}) {
  const Geometry geometry = *geometry_of(method, Domain::weights, Shape{rows, columns});
  Bytes payload(static_cast<std::size_t>(geometry.bytes));
  const bool super = method.family == Family::super;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const auto row = values.subspan(static_cast<std::size_t>(r * columns), static_cast<std::size_t>(columns));
    const RowTarget target{
        payload.data() + geometry.scales.offset + 2 * r * (super ? geometry.supers : geometry.blocks),
        payload.data() + geometry.sub_scales.offset + r * geometry.blocks,
        payload.data() + geometry.codes.offset + r * geometry.row_code_bytes()};
    if (fast)
      reference_encode_row(method, row, target);
    else
      reference_search_row(method, row, importance, target);
  }
  return payload;
}

// The decoded values of a payload.
inline std::vector<float> decoded(const Geometry& geometry, std::span<const std::byte> payload) {
  std::vector<float> out(static_cast<std::size_t>(geometry.elements()));
  if (!out.empty()) reference_decode(rows_of(geometry, payload.data(), 0, geometry.rows), out);
  return out;
}

inline Bytes payload_of(const Tensor& tensor) { return tensor.component("payload")->blob.bytes(); }

// From front to back, as for a pipe or a digest.
inline Bytes streamed_payload_of(const Tensor& tensor) {
  const Blob& blob = tensor.component("payload")->blob;
  Bytes bytes(static_cast<std::size_t>(blob.size()));
  blob.open()->read(bytes);
  return bytes;
}

}  // namespace tare::codec::mcf
