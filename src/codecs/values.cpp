// Elements as C++ numbers: Tensor::values, Tensor::span, and tensors made from them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/endian.hpp"
#include "base/printable.hpp"
#include "codecs/element_kinds.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"

namespace tare {
namespace {

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 8 ? DType::f64 : DType::f32;
  constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  constexpr std::size_t kLog = std::bit_width(sizeof(T)) - 1;
  return std::is_signed_v<T> ? kSigned[kLog] : kUnsigned[kLog];
}

// Whether an integer type has exactly this value.
template <typename To, typename From>
bool holds_exactly(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    // Both bounds are powers of two, so they are exact. NaN fails the comparisons.
    const auto wide = static_cast<double>(value);
    const double beyond = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return wide >= (std::is_signed_v<To> ? -beyond : 0.0) && wide < beyond && wide == std::trunc(wide);
  } else {
    return std::in_range<To>(value);
  }
}

// The index of the first element that the type cannot represent; `count` if there is none.
template <Kind K, typename To>
std::size_t take_exactly(const std::byte* from, To* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = load<K>(from, i);
    if (!holds_exactly<To>(value)) return i;
    to[i] = static_cast<To>(value);
  }
  return count;
}

// Reads integers from a type that also has other values, so each element is checked.
template <std::integral T>
void read_exactly(const Tensor& tensor, const Component& data, std::span<T> out) {
  constexpr std::size_t kAtOnce = 16 << 10;  // elements; input and output stay in the cache together
  const std::size_t width = size_of(data.dtype);
  std::vector<std::byte> raw(std::min(out.size(), kAtOnce) * width);
  const auto reader = data.blob.open();
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(out.size() - done, kAtOnce);
    const auto bytes = std::span(raw).first(count * width);
    reader->read(bytes);
    const std::size_t taken = with_kind(kind_of(data.dtype, data.type), [&]<Kind K>() {
      return take_exactly<K>(bytes.data(), out.data() + done, count);
    });
    if (taken < count) {
      const std::string value = with_kind(kind_of(data.dtype, data.type),
                                          [&]<Kind K>() { return fmt::format("{}", load<K>(bytes.data(), taken)); });
      throw Error(
          ErrorKind::lossy, "values.inexact",
          fmt::format("element {} is {}, which {} cannot represent", done + taken, value, name_of(dtype_of<T>())))
          .about(tensor.name);
    }
    done += count;
  }
}

template <Element T>
void to_native(std::span<T> values) {
  if constexpr (!kLittleEndianHost) swap_elements(std::as_writable_bytes(values), sizeof(T));
}

// Throws if a file has changed since it was opened: then its bytes are not the tensor's values.
void check_sources(const Tensor& tensor) {
  for (const Component& component : tensor.components)
    if (component.blob.source() != nullptr) component.blob.source()->check();
}

// Adds the name of the tensor's file to the error; a tensor in memory has none.
Error in_file_of(const Tensor& tensor, Error error) {
  for (const Component& component : tensor.components)
    if (const SourcePtr& source = component.blob.source(); source != nullptr && source->descriptor() >= 0)
      error.in(source->name());
  return error;
}

Error no_span(const Tensor& tensor, ErrorKind kind, std::string_view rule, std::string_view why) {
  return in_file_of(tensor,
                    Error(kind, rule, fmt::format("there is no span of the elements: {}; values() copies them", why))
                        .about(tensor.name));
}

template <Element T>
std::vector<T> values_of(const Tensor& tensor, std::uint64_t limit, unsigned threads) {
  const Tensor plain = to_dense(tensor);
  const Tensor numbers = cast(plain, dtype_of<T>());
  const std::uint64_t bytes = numbers.component("data")->blob.size();
  if (bytes > limit)
    throw Error(ErrorKind::limit, "values.too_large",
                fmt::format("{} elements as {} take {} bytes, at most {} allowed", bytes / sizeof(T),
                            name_of(dtype_of<T>()), bytes, limit))
        .about(tensor.name);
  std::vector<T> all(bytes / sizeof(T));
  const Component& data = *plain.component("data");
  const bool same = data.type.empty() && data.dtype == dtype_of<T>();
  if (same || std::is_floating_point_v<T> || cast_is_lossless(data.dtype, data.type, dtype_of<T>())) {
    numbers.component("data")->blob.read_all(std::as_writable_bytes(std::span(all)), threads);
    to_native(std::span(all));
  } else if constexpr (!std::is_floating_point_v<T>) {
    read_exactly(plain, data, std::span(all));
  }
  check_sources(tensor);
  return all;
}

}  // namespace

template <Element T>
std::vector<T> Tensor::values(std::uint64_t limit, unsigned threads) const {
  try {
    return values_of<T>(*this, limit, threads);
  } catch (const Error& error) {
    throw in_file_of(*this, error);
  }
}

template <Element T>
std::span<const T> Tensor::span() const {
  if (!is_dense())
    throw no_span(*this, ErrorKind::unsupported, "span.layout",
                  fmt::format("the layout is \"{}\" and has to be decoded", quote(layout)));
  const Component& data = require_dense(*this);
  if (!data.type.empty() || data.dtype != dtype_of<T>())
    throw no_span(*this, ErrorKind::usage, "span.type",
                  fmt::format("the elements are {}, not {}", quote(data.type_name()), name_of(dtype_of<T>())));
  if (data.blob.size() == 0) return {};
  if (!data.blob.is_plain())
    throw no_span(*this, ErrorKind::unsupported, "span.stored",
                  data.blob.encoding() == Encoding::raw
                      ? std::string("the elements are computed when they are read")
                      : fmt::format("the elements are compressed with {}", name_of(data.blob.encoding())));
  if (sizeof(T) > 1 && !kLittleEndianHost)
    throw no_span(*this, ErrorKind::unsupported, "span.order",
                  "the elements are little-endian, which this machine is not");
  check_sources(*this);
  const auto bytes = data.blob.unchecked().view();
  if (!bytes)
    throw no_span(*this, ErrorKind::unsupported, "span.unmapped",
                  "the file is not mapped, so the elements have to be read");
  if (const auto past = reinterpret_cast<std::uintptr_t>(bytes->data()) % alignof(T); past != 0)
    throw no_span(*this, ErrorKind::unsupported, "span.unaligned",
                  fmt::format("the elements begin {} byte{} after a multiple of {} in memory (byte {} of the file)",
                              past, past == 1 ? "" : "s", alignof(T), data.blob.offset()));
  return {reinterpret_cast<const T*>(bytes->data()), bytes->size() / sizeof(T)};
}

template <Element T>
Blob blob_of(std::span<const T> elements) {
  Bytes bytes(elements.size() * sizeof(T));
  for (std::size_t i = 0; i < elements.size(); ++i) store_le<T>(bytes.data() + i * sizeof(T), elements[i]);
  return Blob::memory(std::move(bytes));
}

template <Element T>
Tensor dense(std::string name, Shape shape, std::span<const T> elements) {
  if (shape.elements() != elements.size())
    throw Error(ErrorKind::usage, "values.count",
                fmt::format("{} elements for a tensor of the shape {}", elements.size(), shape.text()))
        .about(name);
  return dense(std::move(name), std::move(shape), dtype_of<T>(), blob_of(elements));
}

#define TARE_ELEMENT(T)                                                              \
  template TARE_API std::vector<T> Tensor::values<T>(std::uint64_t, unsigned) const; \
  template TARE_API std::span<const T> Tensor::span<T>() const;                      \
  template TARE_API Blob blob_of<T>(std::span<const T>);                             \
  template TARE_API Tensor dense<T>(std::string, Shape, std::span<const T>);
TARE_ELEMENT(float)
TARE_ELEMENT(double)
TARE_ELEMENT(std::int8_t)
TARE_ELEMENT(std::uint8_t)
TARE_ELEMENT(std::int16_t)
TARE_ELEMENT(std::uint16_t)
TARE_ELEMENT(std::int32_t)
TARE_ELEMENT(std::uint32_t)
TARE_ELEMENT(std::int64_t)
TARE_ELEMENT(std::uint64_t)
#undef TARE_ELEMENT

}  // namespace tare
