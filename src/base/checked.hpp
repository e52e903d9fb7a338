// Arithmetic without wrap-around, for numbers from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tare {

// Sizes of files and of memory mix freely: an element count from a file needs no cast to become an index.
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Whether [offset, offset + length) is inside [0, size).
inline bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

// The next multiple of `alignment` (a power of two); nothing on overflow.
inline std::optional<std::uint64_t> checked_align(std::uint64_t value, std::uint64_t alignment) {
  const auto raised = checked_add(value, alignment - 1);
  if (!raised) return std::nullopt;
  return *raised & ~(alignment - 1);
}

inline std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0); }

}  // namespace tare
