// Half and brain floats, to and from f32 and f64. Rounding is to nearest, ties to even.
//
// NaN stays NaN. The conversions of halves are free of branches, so that loops over them become
// SIMD code on any target.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tare {

// condition ? a : b with both made beforehand. Spelled with masks because a compiler that must respect floating-point
// traps turns a plain choice into a branch, and a loop with a branch stays scalar.
template <typename Unsigned>
constexpr Unsigned choose(bool condition, Unsigned a, Unsigned b) {
  const Unsigned mask = Unsigned{0} - static_cast<Unsigned>(condition);
  return (a & mask) | (b & ~mask);
}

inline float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t magnitude = std::uint32_t{bits & 0x7FFFu} << 13;
  // Exponent and mantissa in place, then the difference of the biases added in one multiplication, which
  // carries infinities and NaN over as well. Only subnormals need a normal number to start from: mantissa *
  // 2^-24.
  const float normal = std::bit_cast<float>(magnitude + 0x70000000u) * 0x1p-112f;
  const float subnormal = std::bit_cast<float>((magnitude >> 13) | 0x3F000000u) - 0.5f;
  const std::uint32_t chosen = choose(static_cast<std::int32_t>(magnitude) < 0x00800000,
                                      std::bit_cast<std::uint32_t>(subnormal), std::bit_cast<std::uint32_t>(normal));
  return std::bit_cast<float>(sign | chosen);
}

inline std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  // Comparisons of signed numbers are the ones that every SIMD set has.
  const auto order = static_cast<std::int32_t>(magnitude);
  // Two multiplications leave 4 * |value|, or infinity when it is beyond f16. Adding the power of two whose own last
  // place is where f16 ends (for subnormals: their common last place) makes the FPU round there, to even. What is then
  // in the lower mantissa, hidden bit and carry included, completes the exponent of the sum.
  // f32's own subnormals are cleared first: they all become zero, and multiplying them is up to 20 times slower.
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

// As IEC 60559 has it: what is half a step or more beyond the largest f32 is infinite. The language itself does not define
// the conversion of a number outside of the range, so none gets there.
inline float f64_to_f32(double value) {
  constexpr double kMost = std::numeric_limits<float>::max(), kBeyond = 0x1.ffffffp127;
  const double below = value > kMost ? kMost : value;  // NaN is not above anything
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(below < -kMost ? -kMost : below));
  return std::bit_cast<float>(choose(std::fabs(value) >= kBeyond, (bits & 0x80000000u) | 0x7F800000u, bits));
}

// A number that is carried in another width, not computed with: a NaN keeps its bits, which a conversion would change (a
// signalling one becomes quiet). Going back gives the same float; narrowing gives another NaN only if its bits do not fit.
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

// The float next to `value` towards zero, its last bit set when that is inexact ("round to odd"): rounding it
// again to a shorter type gives what rounding `value` once would.
inline float f64_to_f32_odd(double value) {
  const float nearest = f64_to_f32(value);
  const double back = nearest;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const std::uint32_t towards_zero = bits - static_cast<std::uint32_t>(std::fabs(back) > std::fabs(value));
  // Exact, or NaN: neither larger nor smaller than what it was.
  const bool inexact = (back < value) | (back > value);
  return std::bit_cast<float>(choose(inexact, towards_zero | 1u, bits));
}

// Straight from double, rounded once.
inline std::uint16_t f64_to_f16(double value) { return f32_to_f16(f64_to_f32_odd(value)); }
inline std::uint16_t f64_to_bf16(double value) { return f32_to_bf16(f64_to_f32_odd(value)); }

// To the nearest integer, ties to even: std::rint without the call that targets before SSE4.1 need.
inline double round_even(double value) {
  const double magnitude = std::fabs(value);
  const double rounded = (magnitude + 0x1p52) - 0x1p52;
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t with_sign = std::bit_cast<std::uint64_t>(rounded) | (bits & kSign);
  return std::bit_cast<double>(choose(magnitude < 0x1p52, with_sign, bits));
}

}  // namespace tare
