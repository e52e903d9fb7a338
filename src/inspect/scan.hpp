// Looking through element bytes at memory speed for what `verify` reports: NaN, Inf, bytes that are no
// booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tare/dtype.hpp"

namespace tare::inspect {

// What there is to look for in elements of a type.
enum class ScanKind : std::uint8_t { nothing, f64, f32, f16, bf16, e4m3fn, e5m2, fnuz, e8m0, boolean };

// A logical type that is not known gives `nothing`: its bits may mean anything.
ScanKind scan_kind(DType dtype, std::string_view type);

struct ScanCounts {
  std::uint64_t nan = 0, inf = 0, not_boolean = 0;

  void add(const ScanCounts& other) {
    nan += other.nan;
    inf += other.inf;
    not_boolean += other.not_boolean;
  }
};

// `bytes` holds whole elements; a rest that is none is not looked at.
ScanCounts scan(ScanKind kind, std::span<const std::byte> bytes);

}  // namespace tare::inspect
