// Tensor names as a tree. Parts are separated by dots; a node is a prefix and a range of OpenModel::by_name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "view/open_model.hpp"

namespace tare::view {

// A branch with a longer prefix cannot be opened, because no request could name it.
inline constexpr std::size_t kMostPrefix = 500;

struct Branch {
  std::string prefix;              // "model.layers.", or the complete name of a tensor
  std::string label;               // what it adds to its parent's prefix
  std::size_t begin = 0, end = 0;  // a range of by_name
  bool leaf = false;               // a single tensor without further parts
  std::uint64_t elements = 0, bytes = 0;
  std::int64_t type = -1;  // the type of all its tensors; -1 if there are several
};

// The branches below `prefix` (empty, or ending with a dot), in natural order: 9 before 10. A branch with a single
// branch below it is merged with it. [begin, end): the range of by_name to search, which is a node's own or everything.
std::vector<Branch> branches(const OpenModel& model, std::string_view prefix, std::size_t begin, std::size_t end);
// The range of by_name with this prefix.
std::pair<std::size_t, std::size_t> run_of(const OpenModel& model, std::string_view prefix);

// Compares runs of digits as numbers: "a9" before "a10".
bool naturally_less(std::string_view a, std::string_view b);

}  // namespace tare::view
