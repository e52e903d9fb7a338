// The 22 element types, and their representation in a Model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "model/element_types.hpp"
#include "tare/dtype.hpp"

namespace tare::safetensors {

struct HeaderType {
  std::string_view name;  // "F8_E4M3"
  unsigned bits;
  DType storage;
  std::string_view type;              // logical type; empty: the storage type itself
  std::string_view layout = "dense";  // another layout for elements of less than a byte
  std::string_view role = "data";
};
// In the order of the reference implementation, lowest first. Its writer stores tensors from the last type to the
// first, which aligns each to its element size.
inline constexpr HeaderType kTypes[] = {
    {"BOOL", 8, DType::boolean, ""},
    // Elements of less than a byte are codes in a payload; their shape counts elements, not bytes.
    {"F4", 4, DType::u8, "", "packed.f4_e2m1", "payload"},
    {"F6_E2M3", 6, DType::u8, "", "packed.f6_e2m3", "payload"},
    {"F6_E3M2", 6, DType::u8, "", "packed.f6_e3m2", "payload"},
    {"U8", 8, DType::u8, ""},
    {"I8", 8, DType::i8, ""},
    {"F8_E5M2", 8, DType::u8, "f8_e5m2"},
    {"F8_E4M3", 8, DType::u8, "f8_e4m3fn"},  // has no infinities, although its name lacks the "FN"
    {"F8_E8M0", 8, DType::u8, "f8_e8m0"},
    {"F8_E4M3FNUZ", 8, DType::u8, "f8_e4m3fnuz"},
    {"F8_E5M2FNUZ", 8, DType::u8, "f8_e5m2fnuz"},
    {"I16", 16, DType::i16, ""},
    {"U16", 16, DType::u16, ""},
    {"F16", 16, DType::f16, ""},
    {"BF16", 16, DType::bf16, ""},
    {"I32", 32, DType::i32, ""},
    {"U32", 32, DType::u32, ""},
    {"F32", 32, DType::f32, ""},
    {"C64", 64, DType::f32, "complex64"},
    {"F64", 64, DType::f64, ""},
    {"I64", 64, DType::i64, ""},
    {"U64", 64, DType::u64, ""},
};

// Returns whether one of them has this logical type.
constexpr bool has_spelling(const ElementType& type) {
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const HeaderType& t) { return t.type == type.name; });
}
inline constexpr auto kLogicalTypes = [] {
  std::array<std::string_view, std::count_if(std::begin(kElementTypes), std::end(kElementTypes), has_spelling)> names;
  std::size_t next = 0;
  for (const ElementType& type : kElementTypes)
    if (has_spelling(type)) names[next++] = type.name;
  return names;
}();

}  // namespace tare::safetensors
