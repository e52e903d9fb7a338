// Bounded parsing of untrusted JSON: vocabularies of many megabytes, which stay on simdjson's tape. The rules are those
// of json_file.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/budget.hpp"
#include "base/simdjson.hpp"

namespace tare::resources {

class BigJson {
 public:
  // Throws what parse_small_json throws. The document lives as long as this object. `padded`: the kTextPadding bytes
  // after the text may be read, which saves a copy of it.
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
// Returns the value of a key, if it has that type. Does not use `at_key`, which finds the first of several; the last
// one counts. Charges a step for each key: one object may be asked again and again by others of the file.
template <typename T>
std::optional<T> get(const simdjson::dom::object& object, std::string_view key) {
  std::optional<simdjson::dom::element> found;
  std::uint64_t keys = 0;
  for (const auto& [name, value] : object) {
    ++keys;
    if (name == key) found = value;
  }
  charge_steps(keys);
  return found ? get<T>(*found) : std::nullopt;
}

}  // namespace tare::resources
