#include "codecs/packs/arrays.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/endian.hpp"
#include "codecs/streams.hpp"
#include "model/scratch_blob.hpp"

namespace tare::codec::packs {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

Array::Array(const Component& component)
    : component_(component), width_(size_of(component.dtype)), kind_(kind_of(component.dtype, component.type)) {
  // No digest is compared here, because arrays are created when a model is opened. See Maker::verify_plain.
  if (const auto view = component_.blob.unchecked().view()) view_ = view->data();
}

const Blob& Array::seekable() const {
  if (is_seekable(component_.blob)) return component_.blob;
  copied_.run([&] { copy_ = scratch_blob(component_.blob); });
  return copy_;
}

const std::byte* Array::at(std::uint64_t offset, std::size_t length, Bytes& buffer) const {
  if (view_ != nullptr) return view_ + offset;
  buffer.resize(std::max(buffer.size(), length));
  seekable().read(offset, std::span(buffer).first(length));
  return buffer.data();
}

Lines Array::lines(std::uint64_t first, std::uint64_t pitch, std::size_t count, std::size_t bytes,
                   Bytes& buffer) const {
  if (view_ != nullptr) {
    const std::uint64_t all = (component_.blob.size() - first - bytes) / pitch + 1;
    return {view_ + first, pitch, count, static_cast<std::size_t>(all) - count};
  }
  buffer.resize(std::max(buffer.size(), count * bytes));
  for (std::size_t i = 0; i < count; ++i)
    seekable().read(first + i * pitch, std::span(buffer).subspan(i * bytes, bytes));
  return {buffer.data(), bytes, count, 0};
}

void Array::floats(std::uint64_t first, std::size_t count, float* out) const {
  Bytes buffer;
  const std::byte* const from = at(first * width_, count * width_, buffer);
  with_kind(kind_, [&]<Kind K>() {
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(load<K>(from, i));
  });
}

namespace {

// Whether an element has an exponent of all ones: in f32, f16 and bf16 that means NaN or infinity.
template <typename Word>
bool any_with(const std::byte* from, std::size_t count, Word ones) {
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) any |= (load_le<Word>(from + i * sizeof(Word)) & ones) == ones;
  return any;
}

}  // namespace

bool Array::may_be_nonfinite(std::uint64_t first, std::size_t count) const {
  Bytes buffer;
  const std::byte* const from = at(first * width_, count * width_, buffer);
  if (!component_.type.empty()) return true;
  switch (component_.dtype) {
    case DType::f32: return any_with<std::uint32_t>(from, count, 0x7F800000);
    case DType::f16: return any_with<std::uint16_t>(from, count, 0x7C00);
    case DType::bf16: return any_with<std::uint16_t>(from, count, 0x7F80);
    default: return is_float(component_.dtype);
  }
}

std::uint64_t Array::count_nonfinite(std::uint64_t& first) const {
  std::vector<float> values(static_cast<std::size_t>(std::min<std::uint64_t>(elements(), 4096)));
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at < elements(); at += values.size()) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(values.size(), elements() - at));
    if (!may_be_nonfinite(at, part)) continue;
    floats(at, part, values.data());
    for (std::size_t i = 0; i < part; ++i)
      if (!std::isfinite(values[i]) && count++ == 0) first = at + i;
  }
  return count;
}

namespace {

// For f32 and bf16, whose words without the sign are ordered by magnitude, and for exponents.
template <typename Word>
bool any_larger(const std::byte* from, std::size_t count, Word magnitude, Word limit) {
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) any |= (load_le<Word>(from + i * sizeof(Word)) & magnitude) > limit;
  return any;
}

}  // namespace

bool Array::any_unusual() const {
  const bool exponents = component_.type == "f8_e8m0", plain = component_.type.empty();
  if (!exponents && !(plain && (component_.dtype == DType::f32 || component_.dtype == DType::bf16))) return false;
  constexpr std::uint32_t kLimit = std::bit_cast<std::uint32_t>(kUsualScale);
  Bytes buffer;
  const std::size_t part = kChunk / width_;
  for (std::uint64_t first = 0; first < elements(); first += part) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(part, elements() - first));
    const std::byte* const from = at(first * width_, count * width_, buffer);
    const bool any = exponents ? any_larger<std::uint8_t>(from, count, 0xFF, kLimit >> 23)
                     : component_.dtype == DType::f32
                         ? any_larger<std::uint32_t>(from, count, 0x7FFFFFFF, kLimit)
                         : any_larger<std::uint16_t>(from, count, 0x7FFF, static_cast<std::uint16_t>(kLimit >> 16));
    if (any) return true;
  }
  return false;
}

}  // namespace tare::codec::packs
