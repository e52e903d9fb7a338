// Converts entries to values of a Model's metadata, and back.
#include <bit>
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
        list.emplace_back(to_bytes(item));
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

// A string is read as Bytes only if it is not UTF-8.
bool is_odd_text(const Bytes* bytes) { return bytes != nullptr && !is_valid_utf8(as_text(*bytes)); }

// Returns whether an f32 reads back as this number; for NaN, with the same bits.
bool is_single_float(double real) {
  if (std::isnan(real))
    return std::bit_cast<std::uint64_t>(carry_to_f64(carry_to_f32(real))) == std::bit_cast<std::uint64_t>(real);
  return !std::isfinite(real) || decimal_double(f64_to_f32(real)) == real;
}

// Returns whether the value is a single number, text or boolean of this type.
bool is_single(const Value& value, ValueType type) {
  if (const auto range = range_of(type)) return is_integer_in(value, *range);
  const auto* const real = value.get<double>();
  switch (type) {
    case ValueType::f32: return real != nullptr && is_single_float(*real);
    case ValueType::f64: return real != nullptr;
    case ValueType::boolean: return value.get<bool>() != nullptr;
    case ValueType::string: return value.text() != nullptr || is_odd_text(value.get<Bytes>());
    default: return false;
  }
}

std::optional<Value> fitted_single(const Value& value, ValueType type) {
  if (type != ValueType::f32 && type != ValueType::f64)
    return is_single(value, type) ? std::optional(value) : std::nullopt;
  const auto* const whole = value.get<std::int64_t>();
  const auto* const given = value.get<double>();
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (given == nullptr && (whole == nullptr || *whole > kExact || *whole < -kExact)) return std::nullopt;
  const double real = given != nullptr ? *given : static_cast<double>(*whole);
  if (type == ValueType::f64 || !std::isfinite(real)) return Value(real);
  const float nearest = f64_to_f32(real);
  if (!std::isfinite(nearest) || (nearest == 0 && real != 0)) return std::nullopt;
  return Value(decimal_double(nearest));
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
    return to_bytes(*text);
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

std::optional<Value> fitted(const Value& value, const EntryType& type) {
  if (!type.array) return fitted_single(value, type.type);
  if (is_of(value, type)) return value;
  const List* const list = value.get<List>();
  if (list == nullptr) return std::nullopt;
  List items;
  items.reserve(list->size());
  for (const Value& item : *list) {
    std::optional<Value> mine = fitted_single(item, type.type);
    if (!mine) return std::nullopt;
    items.push_back(std::move(*mine));
  }
  if (type.type != ValueType::u8) return Value(std::move(items));
  Bytes bytes;
  bytes.reserve(items.size());
  for (const Value& item : items) bytes.push_back(static_cast<std::byte>(*item.get<std::int64_t>()));
  return Value(std::move(bytes));
}

Payload to_payload(Value value, const EntryType& type) {
  List* const list = type.array ? value.get<List>() : nullptr;
  if (list == nullptr) return value;
  if (type.type == ValueType::string) {
    std::vector<std::string> texts;
    texts.reserve(list->size());
    for (Value& item : *list) {
      if (const Bytes* const bytes = item.get<Bytes>())
        texts.emplace_back(as_text(*bytes));
      else
        texts.push_back(std::move(*item.get<std::string>()));
    }
    return texts;
  }
  if (type.type == ValueType::f32) {
    std::vector<float> floats;
    floats.reserve(list->size());
    for (const Value& item : *list) floats.push_back(carry_to_f32(*item.get<double>()));
    return floats;
  }
  if (type.type == ValueType::i32) {
    std::vector<std::int32_t> numbers;
    numbers.reserve(list->size());
    for (const Value& item : *list) numbers.push_back(static_cast<std::int32_t>(*item.get<std::int64_t>()));
    return numbers;
  }
  return value;
}

std::optional<EntryType> usual_type(const Value& value) {
  if (value.text() != nullptr) return EntryType{ValueType::string, false};
  if (value.get<Bytes>() != nullptr) return EntryType{ValueType::u8, true};
  const List* const list = value.get<List>();
  if (list != nullptr && list->empty()) return std::nullopt;  // the type of its elements is unknown
  const auto candidates = list == nullptr ? std::span<const ValueType>(kUsualNumbers) : kUsualItems;
  for (const ValueType type : candidates) {
    const EntryType candidate{type, list != nullptr};
    if (!is_of(value, candidate)) continue;
    // The first element must be text: bytes are strings only if the file had them as strings.
    if (list != nullptr && type == ValueType::string && list->front().text() == nullptr) return std::nullopt;
    return candidate;
  }
  return std::nullopt;
}

}  // namespace tare::gguf
