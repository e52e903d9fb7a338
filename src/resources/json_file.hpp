// JSON of unknown origin, in bounds: small files, as trees, whose numbers may be larger than 64 bits (tokenizer_config.json
// likes 1e30 as an integer). The last of several values under one key counts, as it does in Python. See also big_json.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace tare::resources
