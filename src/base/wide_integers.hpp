// 64-bit integers, which doubles cannot represent exactly.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.hpp"

namespace tare {

// A stored integer of a signed or unsigned type.
struct WideInteger {
  bool negative = false;
  std::uint64_t magnitude = 0;

  static WideInteger load(const std::byte* at, bool is_signed) {
    const auto bits = load_le<std::uint64_t>(at);
    const bool negative = is_signed && (bits >> 63U) != 0;
    return {negative, negative ? 0 - bits : bits};
  }

  bool operator==(const WideInteger&) const = default;
  bool operator<(const WideInteger& other) const {
    if (negative != other.negative) return negative;
    return negative ? magnitude > other.magnitude : magnitude < other.magnitude;
  }
  // The nearest double; 0 only if the two are equal.
  double minus(const WideInteger& other) const {
    if (negative != other.negative) {
      const double distance = static_cast<double>(magnitude) + static_cast<double>(other.magnitude);
      return negative ? -distance : distance;
    }
    const double distance = magnitude > other.magnitude ? static_cast<double>(magnitude - other.magnitude)
                                                        : -static_cast<double>(other.magnitude - magnitude);
    return negative ? -distance : distance;
  }
};

}  // namespace tare
