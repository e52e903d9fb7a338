// Metadata values: an ordered tree of nulls, booleans, numbers, strings, bytes, lists and maps.
//
// Maps keep their order; keys are text. Syntax that this tree cannot represent (a CBOR tag, a map with integer keys) is
// kept as Opaque: the item's own bytes, which the same syntax writes back verbatim.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tare/export.hpp"

namespace tare {

class Value;

using Bytes = std::vector<std::byte>;
using List = std::vector<Value>;

// A map in insertion order. `find` and `set` take constant time for any number of keys, even hostile ones: larger maps
// keep an index, hashed with a secret key. `erase` takes linear time; use `erase_if` for several. Keys must not be
// changed through the iterators.
class TARE_API Map {
 public:
  using Entry = std::pair<std::string, Value>;

  Map() = default;
  Map(const Map& other);
  Map(Map&&) noexcept = default;
  Map& operator=(const Map& other);
  Map& operator=(Map&&) noexcept = default;
  ~Map() = default;

  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
  // The value of this key as a T (bool, std::int64_t, double, std::string, Bytes, List, Map ...); null if there is no
  // such key or its value is of another kind.
  template <typename T>
  const T* get(std::string_view key) const;
  // Replaces the value of an existing key in place, else appends.
  void set(std::string_view key, Value value);
  // Appends without a search: the caller knows that the key is new. If keys are equal, `find` returns the first.
  void append(std::string key, Value value);
  // Reserves capacity for this many entries in total.
  void reserve(std::size_t entries);
  bool erase(std::string_view key);
  // Erases every entry for which `unwanted(entry)` is true; returns how many.
  template <typename Predicate>
  std::size_t erase_if(Predicate unwanted);

  bool empty() const;
  std::size_t size() const;
  const Entry* begin() const;
  const Entry* end() const;
  Entry* begin();
  Entry* end();
  // Same keys and values, in any order.
  friend TARE_API bool operator==(const Map& a, const Map& b);

 private:
  // Null for small maps; otherwise open addressing, at most half full: (hash << 32 | position + 1), 0 for a free slot.
  using Slots = std::vector<std::uint64_t>;

  std::uint32_t position(std::string_view key) const;
  void index(std::size_t position);
  void index_all();

  std::vector<Entry> entries_;
  std::unique_ptr<Slots> slots_;  // allocated separately: every tensor has a map, and most are small
};

struct Opaque {
  std::string syntax;  // "cbor"
  Bytes bytes;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

class TARE_API Value {
 public:
  using Variant =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Bytes, List, Map, Opaque>;

  Value() = default;
  Value(std::nullptr_t) {}
  template <std::same_as<bool> T>  // excludes pointers, which would convert to true
  Value(T v) : data_(v) {}
  Value(std::int64_t v) : data_(v) {}
  // Stored as int64 if it fits, so that equal numbers compare equal.
  Value(std::uint64_t v);
  Value(int v) : data_(std::int64_t{v}) {}
  // Integers of other widths.
  template <std::integral T>
  requires(!std::same_as<T, bool>) Value(T v)
      : Value(static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(v)) {}
  Value(double v) : data_(v) {}
  Value(std::string v) : data_(std::move(v)) {}
  Value(std::string_view v) : data_(std::string(v)) {}
  Value(const char* v) : data_(std::string(v)) {}
  Value(Bytes v) : data_(std::move(v)) {}
  Value(List v) : data_(std::move(v)) {}
  Value(Map v) : data_(std::move(v)) {}
  Value(Opaque v) : data_(std::move(v)) {}

  const Variant& data() const { return data_; }
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  // Null if the value is of another kind.
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* get() {
    return std::get_if<T>(&data_);
  }
  const std::string* text() const { return get<std::string>(); }

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Variant data_;
};

template <typename T>
const T* Map::get(std::string_view key) const {
  const Value* const value = find(key);
  return value == nullptr ? nullptr : value->get<T>();
}

inline bool Map::empty() const { return entries_.empty(); }
inline std::size_t Map::size() const { return entries_.size(); }
inline const Map::Entry* Map::begin() const { return entries_.data(); }
inline const Map::Entry* Map::end() const { return entries_.data() + entries_.size(); }
inline Map::Entry* Map::begin() { return entries_.data(); }
inline Map::Entry* Map::end() { return entries_.data() + entries_.size(); }

template <typename Predicate>
std::size_t Map::erase_if(Predicate unwanted) {
  const std::size_t erased = std::erase_if(entries_, [&](const Entry& entry) { return bool(unwanted(entry)); });
  if (erased > 0) index_all();
  return erased;
}

enum class JsonKeys : std::uint8_t { in_order, sorted };

// JSON without spaces, UTF-8 unescaped. Floats are the shortest text that reads back as the same double and always look
// like floats ("1.0"); NaN and infinities become strings. Bytes become {"$bytes":"<hex>"}, Opaque {"$cbor":"<hex>"};
// bytes inside a string that are not UTF-8 become \xNN text.
[[nodiscard]] TARE_API std::string to_json(const Value& value, JsonKeys keys = JsonKeys::in_order);
TARE_API std::string to_json(const Map& map, JsonKeys keys = JsonKeys::in_order);
// Appends `text` as a JSON string, quotes included.
TARE_API void append_json_string(std::string& out, std::string_view text);
// A tensor or attachment name as one line of valid UTF-8 that is safe to print: backslash, TAB, LF and CR are escaped;
// bytes that are not UTF-8, and characters that could control a terminal, become \xNN.
[[nodiscard]] TARE_API std::string escape_name(std::string_view name);

}  // namespace tare
