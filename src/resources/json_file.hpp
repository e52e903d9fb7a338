// JSON of unknown origin, in bounds. The small files become trees, whose numbers may be larger than 64 bits
// (tokenizer_config.json likes 1e30 as an integer); vocabularies of many megabytes stay on simdjson's tape. In both, the
// last of several values under one key counts, as it does in Python.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/simdjson.hpp"
#include "tare/value.hpp"

namespace tare::resources {

inline constexpr unsigned kMaxDepth = 64;
inline constexpr std::size_t kMaxSmallBytes = std::size_t{16} << 20;

// An object; NaN and infinities are null. Throws `json.syntax`, `json.depth`, `json.values`, `json.form`, `json.size`.
Map parse_small_json(std::string_view text);
// A list, by the same rules.
List parse_small_json_list(std::string_view text);

// What an object has under a key, if it is of that kind.
template <typename T>
const T* get(const Map& object, std::string_view key) {
  const Value* const value = object.find(key);
  return value == nullptr ? nullptr : value->get<T>();
}
// A number of any kind.
std::optional<double> number_of(const Value& value);
// A whole number that is not negative.
std::optional<std::uint64_t> count_of(const Value& value);
// In order of the keys, whatever the order in the file.
std::vector<const Map::Entry*> sorted_entries(const Map& object);

class BigJson {
 public:
  // The same rules. The document lives as long as this object.
  explicit BigJson(std::string_view text);
  const simdjson::dom::object& root() const { return root_; }

 private:
  simdjson::dom::parser parser_;
  simdjson::dom::object root_;
};

template <typename T>
std::optional<T> get(const simdjson::dom::element& element) {
  T value;
  if (element.get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}
// What an object has under a key, if it is of that kind. Not `at_key`, which finds the first.
template <typename T>
std::optional<T> get(const simdjson::dom::object& object, std::string_view key) {
  std::optional<simdjson::dom::element> found;
  for (const auto& [name, value] : object)
    if (name == key) found = value;
  return found ? get<T>(*found) : std::nullopt;
}

}  // namespace tare::resources
