#include "inspect/scan.hpp"

#include <algorithm>

#include "base/endian.hpp"

namespace tare::inspect {
namespace {

// Elements looked at together. Weights are nearly always finite, so a block is first asked whether it holds
// anything to count, in a loop that compiles to vector code on every machine; only then are its elements
// counted.
constexpr std::size_t kBlock = 4096;

// Elements whose bits without the sign are above `kInf` are NaN, those equal to it infinite.
template <typename Bits, Bits kInf>
void count_nonfinite(std::span<const std::byte> bytes, ScanCounts& counts) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  constexpr Bits kMagnitude = static_cast<Bits>(kSign - 1);
  constexpr Bits kCarry = static_cast<Bits>(kSign - kInf);  // carries a magnitude of kInf or more into the sign bit
  const std::size_t count = bytes.size() / sizeof(Bits);
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::byte* const block = bytes.data() + first * sizeof(Bits);
    const std::size_t length = std::min(kBlock, count - first);
    Bits any = 0;
    for (std::size_t i = 0; i < length; ++i)
      any = static_cast<Bits>(any | ((load_le<Bits>(block + i * sizeof(Bits)) & kMagnitude) + kCarry));
    if ((any & kSign) == 0) continue;
    for (std::size_t i = 0; i < length; ++i) {
      const Bits magnitude = load_le<Bits>(block + i * sizeof(Bits)) & kMagnitude;
      counts.inf += magnitude == kInf;
      counts.nan += magnitude > kInf;
    }
  }
}

void count_equal(std::span<const std::byte> bytes, unsigned mask, unsigned value, std::uint64_t& counter) {
  for (std::size_t first = 0; first < bytes.size(); first += kBlock) {
    std::uint32_t found = 0;
    for (const std::byte b : bytes.subspan(first, std::min(kBlock, bytes.size() - first)))
      found += (std::to_integer<unsigned>(b) & mask) == value;
    counter += found;
  }
}

void count_not_boolean(std::span<const std::byte> bytes, ScanCounts& counts) {
  for (std::size_t first = 0; first < bytes.size(); first += kBlock) {
    const auto block = bytes.subspan(first, std::min(kBlock, bytes.size() - first));
    std::byte any{0};
    for (const std::byte b : block) any |= b;
    if (any <= std::byte{1}) continue;
    for (const std::byte b : block) counts.not_boolean += b > std::byte{1};
  }
}

}  // namespace

ScanKind scan_kind(DType dtype, std::string_view type) {
  struct Row {
    std::string_view type;
    ScanKind kind;
  };
  static constexpr Row kLogical[] = {
      {"f8_e4m3fn", ScanKind::e4m3fn}, {"f8_e5m2", ScanKind::e5m2}, {"f8_e4m3fnuz", ScanKind::fnuz},
      {"f8_e5m2fnuz", ScanKind::fnuz}, {"f8_e8m0", ScanKind::e8m0}, {"complex64", ScanKind::f32},
      {"complex128", ScanKind::f64},
  };
  if (!type.empty()) {
    const LogicalType* const known = find_logical_type(type);
    if (known == nullptr || known->storage != dtype) return ScanKind::nothing;
    for (const Row& row : kLogical)
      if (row.type == type) return row.kind;
    return ScanKind::nothing;
  }
  switch (dtype) {
    case DType::f64: return ScanKind::f64;
    case DType::f32: return ScanKind::f32;
    case DType::f16: return ScanKind::f16;
    case DType::bf16: return ScanKind::bf16;
    case DType::boolean: return ScanKind::boolean;
    default: return ScanKind::nothing;
  }
}

ScanCounts scan(ScanKind kind, std::span<const std::byte> bytes) {
  ScanCounts counts;
  switch (kind) {
    case ScanKind::nothing: break;
    case ScanKind::f64: count_nonfinite<std::uint64_t, 0x7FF0'0000'0000'0000>(bytes, counts); break;
    case ScanKind::f32: count_nonfinite<std::uint32_t, 0x7F80'0000>(bytes, counts); break;
    case ScanKind::f16: count_nonfinite<std::uint16_t, 0x7C00>(bytes, counts); break;
    case ScanKind::bf16: count_nonfinite<std::uint16_t, 0x7F80>(bytes, counts); break;
    case ScanKind::e5m2: count_nonfinite<std::uint8_t, 0x7C>(bytes, counts); break;
    case ScanKind::e4m3fn: count_equal(bytes, 0x7F, 0x7F, counts.nan); break;  // no infinities
    case ScanKind::fnuz: count_equal(bytes, 0xFF, 0x80, counts.nan); break;    // "minus zero" is the one NaN
    case ScanKind::e8m0: count_equal(bytes, 0xFF, 0xFF, counts.nan); break;
    case ScanKind::boolean: count_not_boolean(bytes, counts); break;
  }
  return counts;
}

}  // namespace tare::inspect
