// Which names of many are equal. Faster than a set: nothing is allocated for each name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.hpp"

namespace tare {

// Every name that there was already, by its number, with the number of the last one before it that is equal; in the order of
// the numbers. `name_of(i)` is the name of number i, below `count`.
template <typename NameOf>
std::vector<std::pair<std::size_t, std::size_t>> equal_names(std::size_t count, const NameOf& name_of) {
  struct Hashed {
    std::uint64_t hash;
    std::size_t number;
  };
  std::vector<Hashed> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = {keyed_hash(std::string_view(name_of(i))), i};
  // Names of one hash are rarely others than equal ones.
  std::sort(order.begin(), order.end(), [&](const Hashed& a, const Hashed& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const int names = std::string_view(name_of(a.number)).compare(std::string_view(name_of(b.number)));
    return names != 0 ? names < 0 : a.number < b.number;
  });
  std::vector<std::pair<std::size_t, std::size_t>> equal;
  for (std::size_t i = 1; i < count; ++i)
    if (order[i - 1].hash == order[i].hash &&
        std::string_view(name_of(order[i - 1].number)) == std::string_view(name_of(order[i].number)))
      equal.emplace_back(order[i].number, order[i - 1].number);
  std::sort(equal.begin(), equal.end());
  return equal;
}

}  // namespace tare
