// Bounded parsing of untrusted JSON: small files, as trees, whose numbers may exceed 64 bits (tokenizer_config.json
// often has 1e30 as an integer). If a key appears several times, the last value counts, as in Python. See also
// big_json.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/value.hpp"

namespace tare::resources {

inline constexpr unsigned kMaxDepth = 64;
inline constexpr std::size_t kMaxSmallBytes = std::size_t{16} << 20;

// Parses an object; NaN and infinities become null. Throws `json.syntax`, `json.depth`, `json.values`, `json.form`,
// `json.size`.
Map parse_small_json(std::string_view text);
// Parses a list, by the same rules.
List parse_small_json_list(std::string_view text);

// Returns the value of a key if it has this type, else null.
template <typename T>
const T* get(const Map& object, std::string_view key) {
  const Value* const value = object.find(key);
  return value == nullptr ? nullptr : value->get<T>();
}
// Returns a number of any type.
std::optional<double> number_of(const Value& value);
// Returns a whole number that is not negative.
std::optional<std::uint64_t> count_of(const Value& value);
// The entries sorted by key, whatever their order in the file.
std::vector<const Map::Entry*> sorted_entries(const Map& object);

}  // namespace tare::resources
