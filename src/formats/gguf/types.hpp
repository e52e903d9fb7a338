// GGUF's types of metadata values and of tensors.
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

// In the order of their numbers in the file.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
inline constexpr std::array<std::string_view, 13> kValueTypes = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                                 "bool", "string", "array", "u64", "i64", "f64"};
// Size of a value in bytes; 0 for strings and arrays, which carry their own length.
constexpr std::uint64_t size_of(ValueType type) {
  constexpr std::array<std::uint8_t, 13> kSizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

// The type of a metadata entry: "u32", or "[u32]" for an array.
struct EntryType {
  ValueType type = ValueType::u8;
  bool array = false;

  std::string text() const;
  static std::optional<EntryType> parse(std::string_view text);
  friend bool operator==(const EntryType&, const EntryType&) = default;
};

// Numbers inside a block that have the file's byte order: `count` of `width` bytes, starting at byte `at`.
struct BlockField {
  std::uint8_t at = 0, width = 0, count = 0;
};

// A type of tensors. Dense types have `weights` 1; others are blocks of `weights` elements in `bytes` bytes.
struct TensorType {
  std::uint32_t number;
  std::string_view layout;  // "dense", "ggml.q4_0"
  DType dtype;              // for dense types; u8 for blocks
  std::uint64_t weights, bytes;
  // Fields of a block that must be byte-swapped. Types never defined big-endian have none, and `either_order` is false.
  std::array<BlockField, 2> fields = {};
  bool either_order = true;

  bool is_dense() const { return weights == 1; }
};

std::span<const TensorType> tensor_types();
// Returns null if the number is not in use (any more).
const TensorType* find_type(std::uint32_t number);
// The name of a type that only the program ik_llama has, which numbers its own from 133 on; empty if it is not known.
std::string_view name_in_ik_llama(std::uint32_t number);
// Returns null if GGUF has no such type.
const TensorType* type_of(const Tensor& tensor);

// Converts blocks of the other byte order to those that a Model holds, lazily.
Blob swapped_blocks(Blob blob, const TensorType& type);

}  // namespace tare::gguf
