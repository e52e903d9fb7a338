// f16 and bf16, to and from f32 and f64. Rounding is to nearest, ties to even.
//
// NaN stays NaN. The f16 conversions are free of branches, so that loops over them become SIMD code on any target.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tare {

// condition ? a : b, with both computed first. Uses masks because a compiler that must respect floating-point traps
// turns a plain choice into a branch, and a loop with a branch stays scalar.
template <typename Unsigned>
constexpr Unsigned choose(bool condition, Unsigned a, Unsigned b) {
  const Unsigned mask = Unsigned{0} - static_cast<Unsigned>(condition);
  return (a & mask) | (b & ~mask);
}

inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t magnitude = std::uint32_t{bits & 0x7FFFu} << 13;
  // Puts exponent and mantissa in place, then adds the difference of the biases with one multiplication, which also
  // handles infinities and NaN. Subnormals (mantissa * 2^-24) need a normal number to start from.
  const float normal = std::bit_cast<float>(magnitude + 0x70000000u) * 0x1p-112f;
  const float subnormal = std::bit_cast<float>((magnitude >> 13) | 0x3F000000u) - 0.5f;
  const std::uint32_t chosen = choose(static_cast<std::int32_t>(magnitude) < 0x00800000,
                                      std::bit_cast<std::uint32_t>(subnormal), std::bit_cast<std::uint32_t>(normal));
  return std::bit_cast<float>(sign | chosen);
}

inline std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  // Every SIMD instruction set has comparisons of signed numbers.
  const auto order = static_cast<std::int32_t>(magnitude);
  // Two multiplications yield 4 * |value|, or infinity if it exceeds f16. Adding a power of two whose last place is the
  // last place of the f16 (for subnormals: their common last place) makes the FPU round there, to even. The lower
  // mantissa of the sum, including hidden bit and carry, then completes its exponent. f32 subnormals are cleared first:
  // they all become zero, and multiplying them is up to 20 times slower.
  const float usable = std::bit_cast<float>(choose(order < 0x00800000, 0u, magnitude));
  const float scaled = (usable * 0x1p112f) * 0x1p-110f;
  const std::uint32_t exponent = choose(order < 0x38800000, 0x38800000u, magnitude & 0x7F800000u);
  const std::uint32_t sum = std::bit_cast<std::uint32_t>(std::bit_cast<float>(exponent + 0x07800000u) + scaled);
  const std::uint32_t code = ((sum >> 13) & 0x7C00u) + (sum & 0x0FFFu);
  return static_cast<std::uint16_t>(((bits >> 16) & 0x8000u) | choose(order > 0x7F800000, 0x7E00u, code));
}

inline float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

inline std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>(choose(static_cast<std::int32_t>(bits & 0x7FFFFFFFu) > 0x7F800000, nan, rounded));
}

// As in IEC 60559: a value half a step or more beyond the largest f32 becomes infinite. C++ does not define the
// conversion of out-of-range values, so they are clamped first.
inline float f64_to_f32(double value) {
  constexpr double kMost = std::numeric_limits<float>::max(), kBeyond = 0x1.ffffffp127;
  const double below = value > kMost ? kMost : value;  // false for NaN
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(below < -kMost ? -kMost : below));
  return std::bit_cast<float>(choose(std::fabs(value) >= kBeyond, (bits & 0x80000000u) | 0x7F800000u, bits));
}

// Changes the width of a number without computing: a NaN keeps its bits, which a conversion would change (a signalling
// NaN becomes quiet). Converting back gives the same float; narrowing gives another NaN only if its bits do not fit.
inline double carry_to_f64(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) <= 0x7F800000u) return value;
  return std::bit_cast<double>(std::uint64_t{bits & 0x80000000u} << 32 | std::uint64_t{0x7FF} << 52 |
                               std::uint64_t{bits & 0x007FFFFFu} << 29);
}
inline double carry_to_f64(std::uint16_t half) {
  if ((half & 0x7FFFu) <= 0x7C00u) return f16_to_f32(half);
  return std::bit_cast<double>(std::uint64_t{half & 0x8000u} << 48 | std::uint64_t{0x7FF} << 52 |
                               std::uint64_t{half & 0x03FFu} << 42);
}
inline float carry_to_f32(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto fraction = static_cast<std::uint32_t>(bits >> 29 & 0x007FFFFFu);
  if (value == value || fraction == 0) return f64_to_f32(value);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32 & 0x80000000u) | 0x7F800000u | fraction);
}

// The float next to `value` towards zero, with its last bit set if inexact ("round to odd"): rounding it again to a
// shorter type gives the same result as rounding `value` once.
inline float f64_to_f32_odd(double value) {
  const float nearest = f64_to_f32(value);
  const double back = nearest;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const std::uint32_t towards_zero = bits - static_cast<std::uint32_t>(std::fabs(back) > std::fabs(value));
  // Exact, or NaN: neither comparison is true.
  const bool inexact = (back < value) | (back > value);
  return std::bit_cast<float>(choose(inexact, towards_zero | 1u, bits));
}

// Directly from double, rounded once.
inline std::uint16_t f64_to_f16(double value) { return f32_to_f16(f64_to_f32_odd(value)); }
inline std::uint16_t f64_to_bf16(double value) { return f32_to_bf16(f64_to_f32_odd(value)); }

// Rounds to the nearest integer, ties to even: std::rint without the call that targets before SSE4.1 need.
inline double round_even(double value) {
  const double magnitude = std::fabs(value);
  const double rounded = (magnitude + 0x1p52) - 0x1p52;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t with_sign = std::bit_cast<std::uint64_t>(rounded) | (bits & kSign);
  return std::bit_cast<double>(choose(magnitude < 0x1p52, with_sign, bits));
}

}  // namespace tare
