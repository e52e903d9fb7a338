// The element types: one row each, with everything that Tare knows about a type. Reading and casting of elements, the
// test for NaN, sizes and the public names use these rows; only the spelling in a container is defined elsewhere.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "tare/dtype.hpp"

namespace tare {

enum class Numbers : std::uint8_t {
  floating,
  scale,  // powers of two, for scales of blocks: only an exponent, without sign, zero and subnormals
  signed_integer,
  unsigned_integer,
  boolean,
};

// Which codes of a float are not finite numbers.
enum class Special : std::uint8_t {
  none,
  ieee,        // the highest exponent: infinity, and NaN above it
  top,         // only the code with all bits set, with either sign: NaN
  minus_zero,  // only the code of minus zero: NaN
};

// The meaning of the bits of one number.
struct Coding {
  Numbers numbers;
  unsigned bits;
  unsigned exponent_bits = 0, mantissa_bits = 0;  // floats; a remaining bit is the sign
  int bias = 0;
  Special special = Special::none;

  constexpr bool operator==(const Coding&) const = default;
  constexpr bool is_float() const { return numbers == Numbers::floating || numbers == Numbers::scale; }
  constexpr bool is_integer() const {
    return numbers == Numbers::signed_integer || numbers == Numbers::unsigned_integer;
  }
  constexpr bool is_signed() const {
    return is_float() ? bits > exponent_bits + mantissa_bits : numbers == Numbers::signed_integer;
  }
  // Bits of an integer's magnitude, or of a float's significand including the hidden bit.
  constexpr int digits() const {
    if (is_float()) return static_cast<int>(mantissa_bits) + 1;
    return numbers == Numbers::boolean ? 1 : static_cast<int>(bits) - (is_signed() ? 1 : 0);
  }

  // The functions below are for floats; codes exclude the sign.
  constexpr std::uint64_t magnitude() const { return ~std::uint64_t{0} >> (64 - exponent_bits - mantissa_bits); }
  // Only with Special::ieee.
  constexpr std::uint64_t infinity() const { return magnitude() >> mantissa_bits << mantissa_bits; }
  // The code of the largest finite number.
  constexpr std::uint64_t largest() const {
    if (special == Special::ieee) return infinity() - 1;
    return special == Special::top ? magnitude() - 1 : magnitude();
  }
  constexpr int highest_exponent() const { return static_cast<int>(largest() >> mantissa_bits) - bias; }
  // The exponent of the smallest nonzero number.
  constexpr int lowest_exponent() const {
    return (numbers == Numbers::scale ? 0 : 1) - bias - static_cast<int>(mantissa_bits);
  }
  // The value of a code with its sign, of at most 32 bits.
  constexpr double value(std::uint32_t code) const {
    using Doubles = std::numeric_limits<double>;
    const std::uint64_t rest = code & magnitude();
    const bool negative = is_signed() && rest != code;
    if (special == Special::ieee && rest >= infinity())
      return rest > infinity() ? Doubles::quiet_NaN() : negative ? -Doubles::infinity() : Doubles::infinity();
    if (special == Special::top && rest == magnitude()) return Doubles::quiet_NaN();
    if (special == Special::minus_zero && rest == 0 && negative) return Doubles::quiet_NaN();
    const std::uint64_t mantissa = rest & ~(~std::uint64_t{0} << mantissa_bits), exponent = rest >> mantissa_bits;
    const bool subnormal = exponent == 0 && numbers != Numbers::scale;
    const int power = static_cast<int>(subnormal ? 1 : exponent) - bias - static_cast<int>(mantissa_bits);
    // Both factors are exact in a double, and so is their product.
    const auto significand = static_cast<double>(subnormal ? mantissa : mantissa | std::uint64_t{1} << mantissa_bits);
    const double size = significand * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
    return negative ? -size : size;
  }
};

struct ElementType {
  std::string_view name;
  DType storage;
  unsigned per_element;  // storage elements per element; each has this coding:
  Coding coding;

  // Whether an element is one number of a float type.
  constexpr bool is_real() const { return per_element == 1 && coding.is_float(); }
};

// The storage types in the order of DType, then the logical types.
inline constexpr ElementType kElementTypes[] = {
    {"f64", DType::f64, 1, {Numbers::floating, 64, 11, 52, 1023, Special::ieee}},
    {"f32", DType::f32, 1, {Numbers::floating, 32, 8, 23, 127, Special::ieee}},
    {"f16", DType::f16, 1, {Numbers::floating, 16, 5, 10, 15, Special::ieee}},
    {"bf16", DType::bf16, 1, {Numbers::floating, 16, 8, 7, 127, Special::ieee}},
    {"i64", DType::i64, 1, {Numbers::signed_integer, 64}},
    {"i32", DType::i32, 1, {Numbers::signed_integer, 32}},
    {"i16", DType::i16, 1, {Numbers::signed_integer, 16}},
    {"i8", DType::i8, 1, {Numbers::signed_integer, 8}},
    {"u64", DType::u64, 1, {Numbers::unsigned_integer, 64}},
    {"u32", DType::u32, 1, {Numbers::unsigned_integer, 32}},
    {"u16", DType::u16, 1, {Numbers::unsigned_integer, 16}},
    {"u8", DType::u8, 1, {Numbers::unsigned_integer, 8}},
    {"bool", DType::boolean, 1, {Numbers::boolean, 8}},
    {"f8_e4m3fn", DType::u8, 1, {Numbers::floating, 8, 4, 3, 7, Special::top}},
    {"f8_e5m2", DType::u8, 1, {Numbers::floating, 8, 5, 2, 15, Special::ieee}},
    {"f8_e4m3fnuz", DType::u8, 1, {Numbers::floating, 8, 4, 3, 8, Special::minus_zero}},
    {"f8_e5m2fnuz", DType::u8, 1, {Numbers::floating, 8, 5, 2, 16, Special::minus_zero}},
    {"f8_e8m0", DType::u8, 1, {Numbers::scale, 8, 8, 0, 127, Special::top}},
    {"complex64", DType::f32, 2, {Numbers::floating, 32, 8, 23, 127, Special::ieee}},
    {"complex128", DType::f64, 2, {Numbers::floating, 64, 11, 52, 1023, Special::ieee}},
};
inline constexpr std::size_t kStorageTypes = kAllDTypes.size();
inline constexpr std::size_t kLogicalTypeCount = std::size(kElementTypes) - kStorageTypes;

// Floats smaller than a byte. Components do not have these types: a layout has the codes in its bytes.
struct SmallFloat {
  std::string_view name;
  Coding coding;
};
inline constexpr SmallFloat kSmallFloats[] = {
    {"f4_e2m1", {Numbers::floating, 4, 2, 1, 1}},
    {"f6_e2m3", {Numbers::floating, 6, 2, 3, 1}},
    {"f6_e3m2", {Numbers::floating, 6, 3, 2, 3}},
};

constexpr const ElementType& element_type(DType dtype) { return kElementTypes[static_cast<std::size_t>(dtype)]; }

// Null if it is not the name of a logical type.
constexpr const ElementType* logical_type(std::string_view name) {
  for (std::size_t i = kStorageTypes; i < std::size(kElementTypes); ++i)
    if (kElementTypes[i].name == name) return &kElementTypes[i];
  return nullptr;
}

// The type of a component that is stored as `dtype` with the logical type `type` (empty: none). Null if that type is
// unknown or has another storage type.
constexpr const ElementType* element_type(DType dtype, std::string_view type) {
  if (type.empty()) return &element_type(dtype);
  const ElementType* const logical = logical_type(type);
  return logical != nullptr && logical->storage == dtype ? logical : nullptr;
}

// For tables: an unknown name does not compile.
consteval const ElementType& element_type(std::string_view name) {
  for (const ElementType& type : kElementTypes)
    if (type.name == name) return type;
  throw std::logic_error("no such element type");
}
consteval Coding small_coding(std::string_view name) {
  for (const SmallFloat& type : kSmallFloats)
    if (type.name == name) return type.coding;
  throw std::logic_error("no such small float");
}

// For containers that hold all logical types.
inline constexpr auto kLogicalNames = [] {
  std::array<std::string_view, kLogicalTypeCount> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kElementTypes[kStorageTypes + i].name;
  return names;
}();

// Assumptions of the code that uses the table.
static_assert([] {
  for (std::size_t i = 0; i < std::size(kElementTypes); ++i) {
    const auto& [name, storage, per_element, coding] = kElementTypes[i];
    const Coding& stored = element_type(storage).coding;
    const bool is_storage = i < kStorageTypes;
    if (is_storage && (storage != kAllDTypes[i] || per_element != 1)) return false;
    // A logical type is one number in a storage element, or several numbers of the storage type.
    if (coding.bits != stored.bits || (per_element > 1 && !(coding == stored))) return false;
    // The values of 8-bit floats come from a table of all codes.
    if (!is_storage && per_element == 1 && !(coding.is_float() && coding.bits == 8)) return false;
    if (coding.is_float() && coding.exponent_bits + coding.mantissa_bits + (coding.is_signed() ? 1 : 0) != coding.bits)
      return false;
  }
  return true;
}());

}  // namespace tare
