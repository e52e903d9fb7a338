// The types of GGUF: those of metadata values, and those of tensors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tare/dtype.hpp"
#include "tare/model.hpp"

namespace tare::gguf {

// In the order of their numbers.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr std::array<std::string_view, 13> kValueTypes = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                 "bool", "string", "array", "u64", "i64", "f64"};
// Bytes of a value; 0 for those that say it themselves.
constexpr std::uint64_t size_of(ValueType type) {
  constexpr std::array<std::uint8_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

// The type of an entry of the metadata: "u32", or "[u32]" for an array.
struct EntryType {
  ValueType type = ValueType::u8;
  bool array = false;

  std::string text() const;
  static std::optional<EntryType> parse(std::string_view text);
  friend bool operator==(const EntryType&, const EntryType&) = default;
};

// Numbers inside a block, which are of the file's byte order: `count` of `width` bytes from `at` on.
struct BlockField {
  std::uint8_t at = 0, width = 0, count = 0;
};

// A type of tensors. Elements for which `weights` is 1 are dense; others are blocks of so many.
struct TensorType {
  std::uint32_t number;
  std::string_view layout;  // "dense", "ggml.q4_0"
  DType dtype;              // of dense ones; u8 for blocks
  std::uint64_t weights, bytes;
  // Of blocks, what has a byte order. Some types were never defined in the other one.
  std::array<BlockField, 2> fields = {};
  bool either_order = true;

  bool is_dense() const { return weights == 1; }
};

std::span<const TensorType> tensor_types();
// Null: a number that is not in use (any more).
const TensorType* find_type(std::uint32_t number);
// Null when GGUF has no such type.
const TensorType* type_of(const Tensor& tensor);

// Blocks of the other byte order as those a Model holds, produced lazily.
Blob swapped_blocks(Blob blob, const TensorType& type);

}  // namespace tare::gguf
