// A JSON document as a tree: what the small files of a model's directory are read into. Immutable once it is parsed.
//
// Why not the parser's own tree: its destructor allocates, so that lack of memory, wherever it is met while a tree is
// alive, would end the process. Here nothing is allocated on the way out. A value takes 16 bytes; the parser bounds the
// nesting, and with it the recursion of the destructors.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tare::resources {

class Json {
 public:
  using Array = std::vector<Json>;
  using Entry = std::pair<std::string, Json>;

  Json() = default;
  explicit Json(bool v) : data_(v) {}
  explicit Json(std::int64_t v) : data_(v) {}
  explicit Json(std::uint64_t v) : data_(v) {}
  explicit Json(double v) : data_(v) {}
  explicit Json(std::string v) : data_(std::make_unique<std::string>(std::move(v))) {}
  explicit Json(Array v) : data_(std::make_unique<Array>(std::move(v))) {}
  // An object. The keys may come in any order; of several that are equal the last counts.
  explicit Json(std::vector<Entry> entries);

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_boolean() const { return std::holds_alternative<bool>(data_); }
  bool is_string() const { return pointed<std::string>() != nullptr; }
  bool is_array() const { return pointed<Array>() != nullptr; }
  bool is_object() const { return pointed<Object>() != nullptr; }
  bool is_number_unsigned() const { return std::holds_alternative<std::uint64_t>(data_); }
  bool is_number_integer() const { return is_number_unsigned() || std::holds_alternative<std::int64_t>(data_); }
  bool is_number_float() const { return std::holds_alternative<double>(data_); }
  bool is_number() const { return is_number_integer() || is_number_float(); }

  // Of a string.
  const std::string& text() const { return *pointed<std::string>(); }
  // Of a boolean or a number, which the T must be able to hold.
  template <typename T>
  T get() const {
    return std::visit(
        [](const auto& v) -> T {
          if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(v)>>)
            return static_cast<T>(v);
          else
            return {};
        },
        data_);
  }

  // The items of an array, the values of an object in order of their keys; nothing otherwise.
  const Json* begin() const { return items_begin(); }
  const Json* end() const { return items_begin() + size(); }
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const Json& front() const { return *begin(); }
  const Json& back() const { return *(end() - 1); }

  // What an object has under a key, else end().
  const Json* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != end(); }
  // The key must be there.
  const Json& operator[](std::string_view key) const { return *find(key); }

  // Keys and values of an object.
  class Items;
  Items items() const;

  friend bool operator==(const Json& a, bool b) { return a.is_boolean() && a.get<bool>() == b; }
  friend bool operator==(const Json& a, std::string_view b) { return a.is_string() && a.text() == b; }
  friend bool operator==(const Json& a, const char* b) { return a == std::string_view(b); }

  // In ASCII and without spaces.
  std::string dump() const;

 private:
  struct Object {
    std::vector<std::string> keys;  // sorted
    Array values;
  };

  template <typename T>
  const T* pointed() const {
    const auto* const pointer = std::get_if<std::unique_ptr<T>>(&data_);
    return pointer == nullptr ? nullptr : pointer->get();
  }
  const Json* items_begin() const;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::unique_ptr<std::string>,
               std::unique_ptr<Array>, std::unique_ptr<Object>>
      data_;
};

class Json::Items {
 public:
  class Iterator {
   public:
    Iterator(const std::string* key, const Json* value) : key_(key), value_(value) {}
    std::pair<const std::string&, const Json&> operator*() const { return {*key_, *value_}; }
    Iterator& operator++() {
      ++key_;
      ++value_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return value_ == other.value_; }

   private:
    const std::string* key_;
    const Json* value_;
  };

  Items(const std::string* keys, const Json* begin, const Json* end) : keys_(keys), begin_(begin), end_(end) {}
  Iterator begin() const { return {keys_, begin_}; }
  Iterator end() const { return {keys_, end_}; }

 private:
  const std::string* keys_;
  const Json *begin_, *end_;
};

// Throws what the parser throws (nlohmann::json::exception): json_file.hpp makes errors of it, and has the bounds.
Json parse_json_tree(std::string_view text);

}  // namespace tare::resources
