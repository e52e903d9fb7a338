// The 22 element types.
#include <algorithm>
#include <array>

#include "formats/safetensors/safetensors.hpp"

namespace tare::safetensors {
namespace {

constexpr HeaderType kTypes[] = {
    {"BOOL", 8, DType::boolean, ""},
    // Elements of less than a byte are codes in a payload: their shape counts them, not the bytes.
    {"F4", 4, DType::u8, "", "packed.f4_e2m1", "payload"},
    {"F6_E2M3", 6, DType::u8, "", "packed.f6_e2m3", "payload"},
    {"F6_E3M2", 6, DType::u8, "", "packed.f6_e3m2", "payload"},
    {"U8", 8, DType::u8, ""},
    {"I8", 8, DType::i8, ""},
    {"F8_E5M2", 8, DType::u8, "f8_e5m2"},
    {"F8_E4M3", 8, DType::u8, "f8_e4m3fn"},  // without infinities, although the name does not say so
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

}  // namespace

std::span<const HeaderType> header_types() { return kTypes; }

const HeaderType* find_type(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const HeaderType& t) { return t.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

const HeaderType* type_of(const Tensor& tensor) {
  if (tensor.components.size() != 1) return nullptr;
  const Component& only = tensor.components.front();
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const HeaderType& t) {
    return t.storage == only.dtype && t.type == only.type && t.layout == tensor.layout && t.role == only.role;
  });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace tare::safetensors
