// Scans element bytes at memory speed for what `verify` reports: NaN, Inf, bytes that are not booleans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "codecs/element_kinds.hpp"
#include "tare/dtype.hpp"

namespace tare::inspect {

// Nothing if there is nothing to find: every code is a number, or the logical type is unknown, so that its bits may
// mean anything.
std::optional<Kind> scan_kind(DType dtype, std::string_view type);

struct ScanCounts {
  std::uint64_t nan = 0, inf = 0, not_boolean = 0;

  void add(const ScanCounts& other) {
    nan += other.nan;
    inf += other.inf;
    not_boolean += other.not_boolean;
  }
};

// `bytes` holds whole elements; an incomplete last element is ignored.
ScanCounts scan(Kind kind, std::span<const std::byte> bytes);

}  // namespace tare::inspect
