// Element types. Storage types are a closed set of 13 that fixes the size of an element; logical types are an open set
// of names for what those bytes mean (an fp8 is a u8 with the type "f8_e4m3fn").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tare/export.hpp"

namespace tare {

enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

inline constexpr std::array kAllDTypes = {DType::f64, DType::f32, DType::f16,    DType::bf16, DType::i64,
                                          DType::i32, DType::i16, DType::i8,     DType::u64,  DType::u32,
                                          DType::u16, DType::u8,  DType::boolean};

// Bytes of one element.
[[nodiscard]] TARE_API std::size_t size_of(DType type);
// The spelling used in files, JSON and on the command line: "f32", "bf16", "bool".
[[nodiscard]] TARE_API std::string_view name_of(DType type);
[[nodiscard]] TARE_API std::optional<DType> parse_dtype(std::string_view name);
TARE_API bool is_float(DType type);

// A logical type that Tare knows. One logical element consists of `per_element` storage elements.
struct LogicalType {
  std::string_view name;
  DType storage;
  unsigned per_element;
};

TARE_API std::span<const LogicalType> known_logical_types();
// Null for an unknown name; such a type is carried, and its bytes are shown as its storage type.
[[nodiscard]] TARE_API const LogicalType* find_logical_type(std::string_view name);

}  // namespace tare
