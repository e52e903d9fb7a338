// Hash tables for names and numbers from files. std::hash has a fixed seed, or none: a file with a hundred thousand names
// in one slot would take hours. These use keyed_hash.hpp; so their iteration order differs from run to run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/keyed_hash.hpp"

namespace tare {

struct KeyedHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return keyed_hash(text); }
};

struct KeyedNumberHash {
  std::size_t operator()(std::uint64_t number) const {
    return keyed_hash({reinterpret_cast<const char*>(&number), sizeof number});
  }
};

template <typename T>
using NameMap = std::unordered_map<std::string, T, KeyedHash, std::equal_to<>>;
using NameSet = std::unordered_set<std::string, KeyedHash, std::equal_to<>>;
// For names that are stored elsewhere.
template <typename T>
using NameViewMap = std::unordered_map<std::string_view, T, KeyedHash, std::equal_to<>>;
using NameViewSet = std::unordered_set<std::string_view, KeyedHash, std::equal_to<>>;

}  // namespace tare
