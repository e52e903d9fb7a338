#include "base/half.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace tare {
namespace {

// Decodes a small float: sign, `exponent_bits`, `mantissa_bits`. `finite` formats (fn, fnuz) spend the top exponent
// on numbers too.
float decode_small(std::uint32_t bits, int exponent_bits, int mantissa_bits, int bias) {
  const std::uint32_t mantissa_mask = (1u << mantissa_bits) - 1;
  const std::uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const auto mantissa = static_cast<float>(bits & mantissa_mask);
  const float scale = static_cast<float>(1u << mantissa_bits);
  const bool negative = ((bits >> (exponent_bits + mantissa_bits)) & 1) != 0;
  const float magnitude = exponent == 0
                              ? std::ldexp(mantissa / scale, 1 - bias)
                              : std::ldexp(1 + mantissa / scale, static_cast<int>(exponent) - bias);
  return negative ? -magnitude : magnitude;
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Rounds a double to a binary float with `mantissa_bits` and `exponent_bits` (IEEE style), ties to even.
std::uint16_t round_to_small(double value, int exponent_bits, int mantissa_bits) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << (exponent_bits + mantissa_bits));
  const std::uint32_t top = (1u << exponent_bits) - 1;
  const std::uint32_t infinity = top << mantissa_bits;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1u << (mantissa_bits - 1)));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const int bias = static_cast<int>(top >> 1);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;  // subnormal: one fixed spacing
  // In units of the last place; at most 2^(mantissa_bits + 1), exact in a double. rint honours ties to even.
  const double units = std::rint(std::ldexp(magnitude, mantissa_bits - exponent));
  const double implicit = std::ldexp(1.0, mantissa_bits);
  std::uint32_t code;
  if (units < implicit) {
    code = static_cast<std::uint32_t>(units);
  } else {
    // A carry out of the mantissa moves into the exponent by itself.
    code = static_cast<std::uint32_t>(units - implicit) + (static_cast<std::uint32_t>(exponent + bias) << mantissa_bits);
  }
  if (code > infinity) code = infinity;
  return static_cast<std::uint16_t>(sign | code);
}

}  // namespace

float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1F;
  const std::uint32_t mantissa = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal: mantissa * 2^-24 is exact in f32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

std::uint16_t f32_to_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00 | ((magnitude >> 13) & 0x3FF));
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00);  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14: adding 0.5 lines the half's last place up with the float's, and the FPU rounds to even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xFFF + odd) >> 13));
}

float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t f32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFF) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

std::uint16_t f64_to_f16(double value) { return round_to_small(value, 5, 10); }
std::uint16_t f64_to_bf16(double value) { return round_to_small(value, 8, 7); }

float f8_e4m3fn_to_f32(std::uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? kNaN : decode_small(bits, 4, 3, 7);
}

float f8_e5m2_to_f32(std::uint8_t bits) { return f16_to_f32(static_cast<std::uint16_t>(bits << 8)); }

float f8_e4m3fnuz_to_f32(std::uint8_t bits) { return bits == 0x80 ? kNaN : decode_small(bits, 4, 3, 8); }

float f8_e5m2fnuz_to_f32(std::uint8_t bits) { return bits == 0x80 ? kNaN : decode_small(bits, 5, 2, 16); }

}  // namespace tare
