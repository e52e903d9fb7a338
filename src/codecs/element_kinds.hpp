// Kinds of storage elements: the rows of the table in model/element_types.hpp as template arguments, each with the C++
// type of its values. Loops over elements are templates over a kind, chosen once per run of elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "model/element_types.hpp"
#include "tare/dtype.hpp"
#include "tare/model.hpp"

namespace tare {

// Index of a row of kElementTypes.
enum class Kind : std::uint8_t {};

template <Kind K>
inline constexpr const ElementType& kTypeOf = kElementTypes[static_cast<std::size_t>(K)];

constexpr Kind kind_of(DType dtype) { return static_cast<Kind>(dtype); }
// The kind of a type's numbers: a complex number is two numbers of its storage type.
constexpr Kind kind_of_numbers(const ElementType& type) {
  return type.per_element == 1 ? static_cast<Kind>(&type - kElementTypes) : kind_of(type.storage);
}
// A type that is unknown or has another storage type is read as `dtype`. Complex numbers are two storage elements.
Kind kind_of(DType dtype, std::string_view type);

// The C++ types that hold the storage types, in their order.
using StoredTypes = std::tuple<double, float, std::uint16_t, std::uint16_t, std::int64_t, std::int32_t, std::int16_t,
                               std::int8_t, std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t, std::uint8_t>;
template <DType T>
using Stored = std::tuple_element_t<static_cast<std::size_t>(T), StoredTypes>;

// The values of all codes of an 8-bit float.
template <Kind K>
[[gnu::visibility("hidden")]] inline constexpr auto kValues = [] {
  std::array<float, 256> values{};
  for (std::uint32_t code = 0; code < values.size(); ++code)
    values[code] = static_cast<float>(kTypeOf<K>.coding.value(code));
  return values;
}();

// The component `data` of a dense tensor. Throws usage `dense.expected` for another layout, or the rule of dense that
// the tensor breaks.
const Component& require_dense(const Tensor& tensor);

// Element i of a run.
template <Kind K>
auto load(const std::byte* from, std::size_t i) {
  constexpr DType kStorage = kTypeOf<K>.storage;
  const auto stored = load_le<Stored<kStorage>>(from + i * sizeof(Stored<kStorage>));
  if constexpr (K != kind_of(kStorage))
    return kValues<K>[stored];
  else if constexpr (kStorage == DType::f16)
    return f16_to_f32(stored);
  else if constexpr (kStorage == DType::bf16)
    return bf16_to_f32(stored);
  else if constexpr (kStorage == DType::boolean)
    return static_cast<std::uint8_t>(stored != 0);
  else
    return stored;
}

template <Kind K, typename Work>
decltype(auto) call_with(const Work& work) {
  return work.template operator()<K>();
}
// Calls work.operator()<K>() for the kind. It uses a table because compilers treat the end of a long chain of ifs as
// cold code and do not vectorize its loops.
template <typename Work>
decltype(auto) with_kind(Kind kind, const Work& work) {
  static constexpr auto kCalls = []<std::size_t... Row>(std::index_sequence<Row...>) {
    return std::array{&call_with<kind_of_numbers(kElementTypes[Row]), Work>...};
  }
  (std::make_index_sequence<std::size(kElementTypes)>());
  return kCalls[static_cast<std::size_t>(kind)](work);
}

}  // namespace tare
