// JSON of unknown origin, in bounds. Two parsers: nlohmann's for the small files, whose numbers may be larger than 64
// bits (tokenizer_config.json likes 1e30 as an integer), simdjson's for vocabularies of many megabytes. In both, the last
// of several values under one key counts, as it does in Python.
#pragma once

#include <optional>
#include <string_view>

#include "base/simdjson.hpp"
#include "resources/json_tree.hpp"

namespace tare::resources {

inline constexpr unsigned kMaxDepth = 64;
// The tree may take 16 bytes for two of text.
inline constexpr std::size_t kMaxSmallBytes = std::size_t{16} << 20;

// An object. Throws `json.syntax`, `json.depth`, `json.form`, `json.size`.
Json parse_small_json(std::string_view text);
// A list, by the same rules.
Json parse_small_json_list(std::string_view text);

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
