// Tensor names as a tree: parts are separated by dots, and a node is a prefix and a run of Exhibit::by_name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "view/exhibit.hpp"

namespace tare::view {

// A longer prefix is not offered to be opened: no request could name it.
inline constexpr std::size_t kMostPrefix = 500;

struct Branch {
  std::string prefix;              // "model.layers.", or the whole name of a tensor
  std::string label;               // what it adds to its parent's prefix
  std::size_t begin = 0, end = 0;  // of by_name
  bool leaf = false;               // one tensor, and no further part
  std::uint64_t elements = 0, bytes = 0;
  std::int64_t type = -1;  // that all tensors have; -1: several
};

// The branches below `prefix` ("" or one that ends with a dot), in the order that people expect: 9 before 10. A branch with
// a single branch below is named with it. [begin, end): where to look, a node's own or everything.
std::vector<Branch> branches(const Exhibit& model, std::string_view prefix, std::size_t begin, std::size_t end);
// The run of by_name whose names begin so.
std::pair<std::size_t, std::size_t> run_of(const Exhibit& model, std::string_view prefix);

// "a10" after "a9": runs of digits compare as numbers.
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace tare::view
