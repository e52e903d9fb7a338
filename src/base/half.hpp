// Half and brain floats, and the 8-bit floats, to and from f32. Rounding is to nearest, ties to even.
//
// NaN stays NaN. The conversions of halves are free of branches, so that loops over them become
// SIMD code on any target.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tare {

inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t magnitude = std::uint32_t{bits & 0x7FFFu} << 13;
  // Exponent and mantissa in place, then the difference of the biases added in one multiplication, which
  // carries infinities and NaN over as well. Only subnormals need a normal number to start from: mantissa *
  // 2^-24.
  const float normal = std::bit_cast<float>(magnitude + 0x70000000u) * 0x1p-112f;
  const float subnormal = std::bit_cast<float>((magnitude >> 13) | 0x3F000000u) - 0.5f;
  const std::uint32_t chosen = std::bit_cast<std::uint32_t>(magnitude < 0x00800000u ? subnormal : normal);
  return std::bit_cast<float>(sign | chosen);
}

inline std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint32_t nan = 0x7E00u | ((magnitude >> 13) & 0x3FFu);
  // Below 2^-14: adding 0.5 lines the half's last place up with the float's, and the FPU rounds to even.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u;
  const std::uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13;
  std::uint32_t code = magnitude < 0x38800000u ? subnormal : normal;
  code = magnitude >= 0x477FF000u ? 0x7C00u : code;  // 65520 and above round to infinity
  code = magnitude > 0x7F800000u ? nan : code;
  return static_cast<std::uint16_t>(sign | code);
}

inline float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded);
}

// The float next to `value` towards zero, its last bit set when that is inexact ("round to odd"): rounding it
// again to a shorter type gives what rounding `value` once would.
inline float f64_to_f32_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const std::uint32_t towards_zero = bits - (std::fabs(back) > std::fabs(value) ? 1u : 0u);
  return std::bit_cast<float>(back == value || value != value ? bits : towards_zero | 1u);
}

// Straight from double, rounded once.
inline std::uint16_t f64_to_f16(double value) { return f32_to_f16(f64_to_f32_odd(value)); }
inline std::uint16_t f64_to_bf16(double value) { return f32_to_bf16(f64_to_f32_odd(value)); }

// To the nearest integer, ties to even: std::rint without the call that targets before SSE4.1 need.
inline double round_even(double value) {
  const double magnitude = std::fabs(value);
  const double rounded = std::copysign((magnitude + 0x1p52) - 0x1p52, value);
  return magnitude < 0x1p52 ? rounded : value;
}

// An 8-bit float without its special codes: sign, exponent, `mantissa_bits`.
constexpr float f8_to_f32(std::uint8_t bits, unsigned mantissa_bits, int bias) {
  const std::uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = (bits & 0x7F) >> mantissa_bits;
  const std::uint32_t digits = exponent == 0 ? mantissa : mantissa | (1u << mantissa_bits);
  const int power = (exponent == 0 ? 1 : exponent) - bias - static_cast<int>(mantissa_bits);
  const float magnitude =
      static_cast<float>(digits) * std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

inline constexpr float kF32NaN = std::bit_cast<float>(0x7FC00000u);

// The highest exponent holds numbers, one NaN of each sign, no infinities.
constexpr float f8_e4m3fn_to_f32(std::uint8_t bits) { return (bits & 0x7F) == 0x7F ? kF32NaN : f8_to_f32(bits, 3, 7); }
// As IEEE has it: the upper byte of an f16.
constexpr float f8_e5m2_to_f32(std::uint8_t bits) {
  if ((bits & 0x7F) > 0x7C) return kF32NaN;
  if ((bits & 0x7F) == 0x7C) return std::bit_cast<float>((bits & 0x80) != 0 ? 0xFF800000u : 0x7F800000u);
  return f8_to_f32(bits, 2, 15);
}
// No infinities, no negative zero: its code is the only NaN.
constexpr float f8_e4m3fnuz_to_f32(std::uint8_t bits) { return bits == 0x80 ? kF32NaN : f8_to_f32(bits, 3, 8); }
constexpr float f8_e5m2fnuz_to_f32(std::uint8_t bits) { return bits == 0x80 ? kF32NaN : f8_to_f32(bits, 2, 16); }

}  // namespace tare
