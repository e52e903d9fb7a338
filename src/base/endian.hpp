// Little-endian access to multi-byte fields, the same on every host.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace tare {

inline constexpr bool kLittleEndianHost = std::endian::native == std::endian::little;

template <typename T>
requires std::integral<T> || std::floating_point<T> T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  } else {
    static_assert(sizeof(T) == 8);
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
}

// Unaligned loads and stores.
template <typename T>
T load_le(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (!kLittleEndianHost) value = byte_swapped(value);
  return value;
}

template <typename T>
T load_be(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (kLittleEndianHost) value = byte_swapped(value);
  return value;
}

template <typename T>
void store_le(void* to, T value) {
  if constexpr (!kLittleEndianHost) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void store_be(void* to, T value) {
  if constexpr (kLittleEndianHost) value = byte_swapped(value);
  std::memcpy(to, &value, sizeof value);
}

// Reverses each run of `width` bytes in place.
void swap_elements(std::span<std::byte> bytes, std::size_t width);

}  // namespace tare
