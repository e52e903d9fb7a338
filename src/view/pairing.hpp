// Which tensor of the second model belongs to which of the first. By name; where two containers name tensors by conventions
// of their own, after both have been brought to one (Format::release), which also puts rows back in order.
#pragma once

#include <cstdint>
#include <vector>

#include "view/exhibit.hpp"

namespace tare::view {

struct Pair {
  std::int64_t a = -1, b = -1;  // -1: it is only in the other
  Tensor tensor_a, tensor_b;    // as they are compared
};

struct Pairing {
  std::vector<Pair> pairs;         // in the order of a, then those of b alone
  std::vector<std::int64_t> of_a;  // tensor of a -> place in pairs
  bool renamed = false;
};

Pairing pair_up(const Exhibit& a, const Exhibit& b);

}  // namespace tare::view
