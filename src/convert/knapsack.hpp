// Choosing one price from each of several lists, as good a choice as a budget allows.
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

// Of a list sorted by bytes, then by error, only prices with a smaller error than all before them are worth paying.
// Indices into the list.
std::vector<std::size_t> worth_paying(std::span<const Price> prices);

// The index of one price from each list, so that the errors sum up to the least while the bytes sum up to at most
// `budget`. No list is empty; in each, bytes rise and errors fall. Nothing when even the first of each do not fit.
//
// Best of all for a few dozen lists. For more it is as good as taking single steps at the best rate, or better. The
// choice depends on nothing but the arguments, and takes below a second for thousands of lists.
std::optional<std::vector<std::size_t>> least_error(std::span<const std::vector<Price>> lists, std::uint64_t budget);

}  // namespace tare::recipe
