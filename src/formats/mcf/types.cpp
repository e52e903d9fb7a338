// Element types: MCF's numbers, and how types that it does not have are stored.
#include <array>

#include "formats/mcf/mcf.hpp"

namespace tare::mcf {
namespace {

// In the order of their numbers in TensorIndex, from 1.
constexpr std::array kTypes = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8,  DType::u8,
                               DType::i16, DType::u16, DType::i32,  DType::u32, DType::i64, DType::u64};

std::uint32_t number_of(DType dtype) {
  if (dtype == DType::boolean) dtype = DType::u8;
  for (std::uint32_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i] == dtype) return i + 1;
  return 0;
}

bool is_pair(std::string_view type) {
  const LogicalType* const logical = find_logical_type(type);
  return logical != nullptr && logical->per_element == 2;
}

// A note is the logical type, or "STORAGE:TYPE" if the type alone is ambiguous; for bool it is "bool".
constexpr char kSeparator = ':';

std::optional<DType> storage_before(std::string_view note) {
  const std::size_t separator = note.find(kSeparator);
  return separator == std::string_view::npos ? std::nullopt : parse_dtype(note.substr(0, separator));
}

}  // namespace

std::optional<DType> plain_type(std::uint32_t number) {
  if (number == 0 || number > kTypes.size()) return std::nullopt;
  return kTypes[number - 1];
}

StoredType stored_type(const Component& component) {
  StoredType stored{number_of(component.dtype), is_pair(component.type), {}};
  const bool boolean = component.dtype == DType::boolean;
  if (component.type.empty()) {
    if (boolean) stored.note = name_of(DType::boolean);
  } else if (boolean || component.type == name_of(DType::boolean) || storage_before(component.type)) {
    stored.note = std::string(name_of(component.dtype)) + kSeparator + component.type;
  } else {
    stored.note = component.type;
  }
  return stored;
}

bool apply_note(std::string_view note, Component& component, Shape& shape) {
  DType dtype = component.dtype;
  if (note == name_of(DType::boolean)) {
    dtype = DType::boolean;
    note = {};
  } else if (const auto storage = storage_before(note)) {
    dtype = *storage;
    note.remove_prefix(note.find(kSeparator) + 1);
    if (note.empty()) return false;
  }
  if (number_of(dtype) != number_of(component.dtype)) return false;
  if (dtype != component.dtype && dtype != DType::boolean) return false;
  const LogicalType* const logical = find_logical_type(note);
  if (logical != nullptr && logical->storage != dtype) return false;
  if (is_pair(note)) {
    if (shape.empty() || shape.back() != 2) return false;
    shape.pop_back();
  }
  component.dtype = dtype;
  component.type = note;
  return true;
}

}  // namespace tare::mcf
