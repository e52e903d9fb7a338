// Half and brain floats, and the 8-bit floats, to and from f32. Rounding is to nearest, ties to even.
#pragma once

#include <cstdint>

namespace tare {

float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_bf16(float value);
// Straight from double, rounded once.
std::uint16_t f64_to_f16(double value);
std::uint16_t f64_to_bf16(double value);

float f8_e4m3fn_to_f32(std::uint8_t bits);
float f8_e5m2_to_f32(std::uint8_t bits);
float f8_e4m3fnuz_to_f32(std::uint8_t bits);
float f8_e5m2fnuz_to_f32(std::uint8_t bits);

}  // namespace tare
