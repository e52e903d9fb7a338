// Chooses one price from each of several lists, with the least error that a budget allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tare::recipe {

struct Price {
  std::uint64_t bytes = 0;
  double error = 0;
};

// In a list sorted by bytes, then by error, only prices with a smaller error than all before them are worth paying.
// Returns their indices.
std::vector<std::size_t> worth_paying(std::span<const Price> prices);

// Returns the index of one price from each list, so that the sum of the errors is minimal and the sum of the bytes at
// most `budget`. No list is empty; in each, bytes rise and errors fall. Returns nothing if even the first of each do
// not fit.
//
// Optimal for a few dozen lists. For more, at least as good as taking single steps at the best rate. Deterministic;
// takes less than a second for thousands of lists.
std::optional<std::vector<std::size_t>> least_error(std::span<const std::vector<Price>> lists, std::uint64_t budget);

}  // namespace tare::recipe
