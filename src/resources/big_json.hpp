// JSON of unknown origin, in bounds: vocabularies of many megabytes, which stay on simdjson's tape. By the rules of
// json_file.hpp.
#pragma once

#include <optional>
#include <string_view>

#include "base/simdjson.hpp"

namespace tare::resources {

class BigJson {
 public:
  // Throws what parse_small_json throws. The document lives as long as this object. `padded`: kTextPadding bytes after the
  // text may be read, which saves a copy of it.
  explicit BigJson(std::string_view text, bool padded = false);
  BigJson(const BigJson&) = delete;  // the root points to the document
  BigJson& operator=(const BigJson&) = delete;
  const simdjson::dom::object& root() const { return root_; }

 private:
  simdjson::dom::document document_;
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
