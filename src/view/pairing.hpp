// Which tensor of the second model belongs to which of the first. By name; where two containers name tensors by conventions
// of their own, after both have been brought to one (Format::release), which also puts rows back in order.
#pragma once

#include <cstdint>
#include <vector>

#include "view/exhibit.hpp"

namespace tare::view {

struct Pair {
  std::int64_t a = -1, b = -1;  // its number in the model; -1: it has none of its own there
  Tensor tensor_a, tensor_b;    // as they are compared
  bool in_a = false, in_b = false;
};

struct Pairing {
  std::vector<Pair> pairs;               // in the order of a, then those of b alone
  std::vector<std::int64_t> of_a, of_b;  // tensor of a model -> place in pairs; -1: none
  bool renamed = false;
};

Pairing pair_up(const Exhibit& a, const Exhibit& b);

}  // namespace tare::view
