// Kinds of storage elements: the storage types and the 8-bit floats, each with the C++ type of its values.
// Loops over elements are templates over a kind, chosen once per run of elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "tare/dtype.hpp"
#include "tare/model.hpp"

namespace tare {

// The storage types in the order of DType, then the 8-bit floats.
enum class Kind : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  e4m3fn,
  e5m2,
  e4m3fnuz,
  e5m2fnuz,
  e8m0,
};

// An unknown type, or one that does not live in this storage type, is read as the storage type. Complex
// numbers are two storage elements.
Kind kind_of(DType dtype, std::string_view type);

// The values of all 256 codes of an 8-bit float.
template <Kind K>
constexpr std::array<float, 256> make_f8_table() {
  std::array<float, 256> table{};
  for (unsigned code = 0; code < 256; ++code) {
    const auto bits = static_cast<std::uint8_t>(code);
    table[code] = K == Kind::e4m3fn     ? f8_e4m3fn_to_f32(bits)
                  : K == Kind::e5m2     ? f8_e5m2_to_f32(bits)
                  : K == Kind::e4m3fnuz ? f8_e4m3fnuz_to_f32(bits)
                  : K == Kind::e5m2fnuz ? f8_e5m2fnuz_to_f32(bits)
                                        : f8_e8m0_to_f32(bits);
  }
  return table;
}
template <Kind K>
[[gnu::visibility("hidden")]] inline constexpr std::array<float, 256> kF8Table = make_f8_table<K>();

// The dense data of a tensor. Throws usage `dense.expected` for another layout, or the rule of dense that it
// breaks.
const Component& require_dense(const Tensor& tensor);

// The element number i of a run.
template <Kind K>
auto load(const std::byte* from, std::size_t i) {
  if constexpr (K == Kind::f64)
    return load_le<double>(from + i * 8);
  else if constexpr (K == Kind::f32)
    return load_le<float>(from + i * 4);
  else if constexpr (K == Kind::f16)
    return f16_to_f32(load_le<std::uint16_t>(from + i * 2));
  else if constexpr (K == Kind::bf16)
    return bf16_to_f32(load_le<std::uint16_t>(from + i * 2));
  else if constexpr (K == Kind::i64)
    return load_le<std::int64_t>(from + i * 8);
  else if constexpr (K == Kind::i32)
    return load_le<std::int32_t>(from + i * 4);
  else if constexpr (K == Kind::i16)
    return load_le<std::int16_t>(from + i * 2);
  else if constexpr (K == Kind::i8)
    return load_le<std::int8_t>(from + i);
  else if constexpr (K == Kind::u64)
    return load_le<std::uint64_t>(from + i * 8);
  else if constexpr (K == Kind::u32)
    return load_le<std::uint32_t>(from + i * 4);
  else if constexpr (K == Kind::u16)
    return load_le<std::uint16_t>(from + i * 2);
  else if constexpr (K == Kind::u8)
    return load_le<std::uint8_t>(from + i);
  else if constexpr (K == Kind::boolean)
    return static_cast<std::uint8_t>(from[i] != std::byte{});
  else
    return kF8Table<K>[std::to_integer<std::size_t>(from[i])];
}

// Calls work.operator()<K>() for the kind.
template <typename Work>
decltype(auto) with_kind(Kind kind, const Work& work) {
  switch (kind) {
    case Kind::f64: return work.template operator()<Kind::f64>();
    case Kind::f32: return work.template operator()<Kind::f32>();
    case Kind::f16: return work.template operator()<Kind::f16>();
    case Kind::bf16: return work.template operator()<Kind::bf16>();
    case Kind::i64: return work.template operator()<Kind::i64>();
    case Kind::i32: return work.template operator()<Kind::i32>();
    case Kind::i16: return work.template operator()<Kind::i16>();
    case Kind::i8: return work.template operator()<Kind::i8>();
    case Kind::u64: return work.template operator()<Kind::u64>();
    case Kind::u32: return work.template operator()<Kind::u32>();
    case Kind::u16: return work.template operator()<Kind::u16>();
    case Kind::u8: return work.template operator()<Kind::u8>();
    case Kind::boolean: return work.template operator()<Kind::boolean>();
    case Kind::e4m3fn: return work.template operator()<Kind::e4m3fn>();
    case Kind::e5m2: return work.template operator()<Kind::e5m2>();
    case Kind::e4m3fnuz: return work.template operator()<Kind::e4m3fnuz>();
    case Kind::e5m2fnuz: return work.template operator()<Kind::e5m2fnuz>();
    case Kind::e8m0: break;
  }
  return work.template operator()<Kind::e8m0>();
}

}  // namespace tare
