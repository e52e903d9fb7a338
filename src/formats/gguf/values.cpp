// Entries as values of a Model's metadata, and back.
#include <cmath>
#include <limits>

#include "base/half.hpp"
#include "base/text.hpp"
#include "formats/gguf/gguf.hpp"

namespace tare::gguf {
namespace {

template <typename T>
Value list_of(std::vector<T>& items) {
  List list;
  list.reserve(items.size());
  for (T& item : items) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (is_valid_utf8(item)) {
        list.emplace_back(std::move(item));
      } else {
        const auto bytes = std::as_bytes(std::span(item));
        list.emplace_back(Bytes(bytes.begin(), bytes.end()));
      }
    } else if constexpr (std::is_same_v<T, float>) {
      list.emplace_back(decimal_double(item));
    } else {
      list.emplace_back(std::int64_t{item});
    }
  }
  return list;
}

struct Range {
  std::int64_t low;
  std::uint64_t high;
};
template <typename T>
constexpr Range range_of() {
  return {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          static_cast<std::uint64_t>(std::numeric_limits<T>::max())};
}
std::optional<Range> range_of(ValueType type) {
  switch (type) {
    case ValueType::u8: return range_of<std::uint8_t>();
    case ValueType::i8: return range_of<std::int8_t>();
    case ValueType::u16: return range_of<std::uint16_t>();
    case ValueType::i16: return range_of<std::int16_t>();
    case ValueType::u32: return range_of<std::uint32_t>();
    case ValueType::i32: return range_of<std::int32_t>();
    case ValueType::u64: return range_of<std::uint64_t>();
    case ValueType::i64: return range_of<std::int64_t>();
    default: return std::nullopt;
  }
}

bool is_integer_in(const Value& value, const Range& range) {
  if (const auto* const number = value.get<std::int64_t>())
    return *number >= range.low && (*number < 0 || static_cast<std::uint64_t>(*number) <= range.high);
  const auto* const large = value.get<std::uint64_t>();
  return large != nullptr && *large <= range.high;
}

// One number, text or truth.
bool is_single(const Value& value, ValueType type) {
  if (const auto range = range_of(type)) return is_integer_in(value, *range);
  const auto* const real = value.get<double>();
  switch (type) {
    case ValueType::f32:
      return real != nullptr && (!std::isfinite(*real) || decimal_double(f64_to_f32(*real)) == *real);
    case ValueType::f64: return real != nullptr;
    case ValueType::boolean: return value.get<bool>() != nullptr;
    case ValueType::string: return value.text() != nullptr || value.get<Bytes>() != nullptr;
    default: return false;
  }
}

constexpr ValueType kUsualNumbers[] = {ValueType::u32, ValueType::i32, ValueType::i64,    ValueType::u64,
                                       ValueType::f32, ValueType::f64, ValueType::boolean};
constexpr ValueType kUsualItems[] = {ValueType::i32, ValueType::i64,     ValueType::u64,   ValueType::f32,
                                     ValueType::f64, ValueType::boolean, ValueType::string};

}  // namespace

Value to_value(Payload payload, const EntryType& type) {
  if (auto* const value = std::get_if<Value>(&payload)) {
    const std::string* const text = value->text();
    if (type.array || text == nullptr || is_valid_utf8(*text)) return std::move(*value);
    const auto bytes = std::as_bytes(std::span(*text));
    return Bytes(bytes.begin(), bytes.end());
  }
  if (auto* const texts = std::get_if<std::vector<std::string>>(&payload)) return list_of(*texts);
  if (auto* const floats = std::get_if<std::vector<float>>(&payload)) return list_of(*floats);
  return list_of(std::get<std::vector<std::int32_t>>(payload));
}

bool is_of(const Value& value, const EntryType& type) {
  if (!type.array) return is_single(value, type.type);
  if (type.type == ValueType::u8 && value.get<Bytes>() != nullptr) return true;
  const List* const list = value.get<List>();
  if (list == nullptr || type.type == ValueType::u8) return false;
  for (const Value& item : *list)
    if (!is_single(item, type.type)) return false;
  return true;
}

std::optional<EntryType> usual_type(const Value& value) {
  if (value.text() != nullptr) return EntryType{ValueType::string, false};
  if (value.get<Bytes>() != nullptr) return EntryType{ValueType::u8, true};
  const List* const list = value.get<List>();
  if (list != nullptr && list->empty()) return std::nullopt;  // of what, nobody can tell
  const auto candidates = list == nullptr ? std::span<const ValueType>(kUsualNumbers) : kUsualItems;
  for (const ValueType type : candidates) {
    const EntryType candidate{type, list != nullptr};
    if (!is_of(value, candidate)) continue;
    // Texts in a list are texts, and bytes only where a file has them as such.
    if (list != nullptr && type == ValueType::string && list->front().text() == nullptr) return std::nullopt;
    return candidate;
  }
  return std::nullopt;
}

}  // namespace tare::gguf
