#include "inspect/scan.hpp"

#include <algorithm>
#include <type_traits>

#include "base/endian.hpp"

namespace tare::inspect {
namespace {

// Elements per block. Weights are nearly always finite, so a first loop, which compiles to vector code on every
// machine, only tests whether the block has anything to count; only then are its elements counted.
constexpr std::size_t kBlock = 4096;

template <unsigned kBits>
using UnsignedOf = std::conditional_t<
    kBits == 64, std::uint64_t,
    std::conditional_t<kBits == 32, std::uint32_t, std::conditional_t<kBits == 16, std::uint16_t, std::uint8_t>>>;

// Elements whose bits without the sign exceed `kInf` are NaN, those equal to it infinite.
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

template <unsigned kMask, unsigned kValue>
void count_equal(std::span<const std::byte> bytes, std::uint64_t& counter) {
  for (std::size_t first = 0; first < bytes.size(); first += kBlock) {
    std::uint32_t found = 0;
    for (const std::byte b : bytes.subspan(first, std::min(kBlock, bytes.size() - first)))
      found += (std::to_integer<unsigned>(b) & kMask) == kValue;
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

template <Kind K>
void count(std::span<const std::byte> bytes, ScanCounts& counts) {
  constexpr Coding kCoding = kTypeOf<K>.coding;
  if constexpr (kCoding.numbers == Numbers::boolean)
    count_not_boolean(bytes, counts);
  else if constexpr (kCoding.special == Special::ieee)
    count_nonfinite<UnsignedOf<kCoding.bits>, kCoding.infinity()>(bytes, counts);
  else if constexpr (kCoding.special == Special::top)
    count_equal<kCoding.magnitude(), kCoding.magnitude()>(bytes, counts.nan);
  else if constexpr (kCoding.special == Special::minus_zero)
    count_equal<0xFF, kCoding.magnitude() + 1>(bytes, counts.nan);
}

}  // namespace

std::optional<Kind> scan_kind(DType dtype, std::string_view type) {
  const ElementType* const known = element_type(dtype, type);
  if (known == nullptr) return std::nullopt;
  const Coding& coding = known->coding;
  if (coding.special == Special::none && coding.numbers != Numbers::boolean) return std::nullopt;
  return kind_of(dtype, type);
}

ScanCounts scan(Kind kind, std::span<const std::byte> bytes) {
  ScanCounts counts;
  with_kind(kind, [&]<Kind K>() { count<K>(bytes, counts); });
  return counts;
}

}  // namespace tare::inspect
