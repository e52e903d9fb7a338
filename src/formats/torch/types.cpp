// Element types, and PyTorch's names for them and their storages.
#include <algorithm>

#include "formats/torch/torch.hpp"
#include "model/element_size.hpp"

namespace tare::torch {
namespace {

constexpr ElementType kElements[] = {
    {"float64", "DoubleStorage", DType::f64},
    {"float32", "FloatStorage", DType::f32},
    {"float16", "HalfStorage", DType::f16},
    {"bfloat16", "BFloat16Storage", DType::bf16},
    {"int64", "LongStorage", DType::i64},
    {"int32", "IntStorage", DType::i32},
    {"int16", "ShortStorage", DType::i16},
    {"int8", "CharStorage", DType::i8},
    {"uint64", "", DType::u64},
    {"uint32", "", DType::u32},
    {"uint16", "", DType::u16},
    {"uint8", "ByteStorage", DType::u8},
    {"bool", "BoolStorage", DType::boolean},
    {"complex64", "ComplexFloatStorage", DType::f32, "complex64"},
    {"complex128", "ComplexDoubleStorage", DType::f64, "complex128"},
    {"float8_e4m3fn", "", DType::u8, "f8_e4m3fn"},
    {"float8_e5m2", "", DType::u8, "f8_e5m2"},
    {"float8_e4m3fnuz", "", DType::u8, "f8_e4m3fnuz"},
    {"float8_e5m2fnuz", "", DType::u8, "f8_e5m2fnuz"},
    {"float8_e8m0fnu", "", DType::u8, "f8_e8m0"},
    {"float4_e2m1fn_x2", "", DType::u8, "", "packed.f4_e2m1"},
    {"qint8", "QInt8Storage", DType::i8, "", "", true},
    {"quint8", "QUInt8Storage", DType::u8, "", "", true},
    {"qint32", "QInt32Storage", DType::i32, "", "", true},
};
constexpr ElementType kUntyped = {"uint8", "UntypedStorage", DType::u8};

}  // namespace

const ElementType* find_element(std::string_view name) {
  const auto* const row = std::ranges::find(kElements, name, &ElementType::name);
  return row == std::end(kElements) ? nullptr : row;
}

const ElementType* find_storage(std::string_view name) {
  if (name == kUntyped.storage) return &kUntyped;
  const auto* const row = std::ranges::find(kElements, name, &ElementType::storage);
  return row == std::end(kElements) ? nullptr : row;
}

std::uint64_t width_of(const ElementType& type) { return element_bytes(type.dtype, type.type); }

}  // namespace tare::torch
