// Integers of 64 bits, of which doubles cannot tell all apart.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/endian.hpp"

namespace tare {

// As it is stored: of a signed type, or of one that has no sign.
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
  // As near as a double comes; 0 only where the two are equal.
  double minus(const WideInteger& other) const {
    if (negative != other.negative) {
      const double apart = static_cast<double>(magnitude) + static_cast<double>(other.magnitude);
      return negative ? -apart : apart;
    }
    const double apart = magnitude > other.magnitude ? static_cast<double>(magnitude - other.magnitude)
                                                     : -static_cast<double>(other.magnitude - magnitude);
    return negative ? -apart : apart;
  }
};

}  // namespace tare
