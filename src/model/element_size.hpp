// The size of elements in bytes, shared by layouts and slices.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.hpp"
#include "model/element_types.hpp"
#include "tare/dtype.hpp"

namespace tare {

// Storage elements per logical element. An unknown type, or one whose storage type is not `dtype`, counts as its
// storage type.
inline unsigned storage_per_element(DType dtype, std::string_view type) {
  const ElementType* const known = element_type(dtype, type);
  return known != nullptr ? known->per_element : 1;
}

// Bytes of one logical element.
inline std::uint64_t element_bytes(DType dtype, std::string_view type) {
  return std::uint64_t{size_of(dtype)} * storage_per_element(dtype, type);
}

// Bytes of `count` logical elements; nothing on overflow.
inline std::optional<std::uint64_t> elements_bytes(std::uint64_t count, DType dtype, std::string_view type) {
  return checked_mul(count, element_bytes(dtype, type));
}

}  // namespace tare
