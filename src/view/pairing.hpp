// Which tensor of the second model belongs to which of the first. By name; where two containers name tensors by conventions
// of their own, after both have been brought to one (Format::release), which also puts rows back in order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "view/exhibit.hpp"

namespace tare::view {

struct Pair {
  std::int64_t a = -1, b = -1;                             // its number in the model; -1: it has none of its own there
  const Tensor *of_first = nullptr, *of_second = nullptr;  // as they are compared; null: the model has no such tensor

  bool in_a() const { return of_first != nullptr; }
  bool in_b() const { return of_second != nullptr; }
  // Of a model that has no such tensor an empty one.
  const Tensor& tensor_a() const { return in_a() ? *of_first : nothing(); }
  const Tensor& tensor_b() const { return in_b() ? *of_second : nothing(); }

  static const Tensor& nothing();
};

struct Pairing {
  std::vector<Pair> pairs;               // in the order of a, then those of b alone
  std::vector<std::int64_t> of_a, of_b;  // tensor of a model -> place in pairs; -1: none
  bool renamed = false;
  std::vector<std::shared_ptr<const void>> owners;  // of the tensors
};

Pairing pair_up(const std::shared_ptr<const Exhibit>& a, const std::shared_ptr<const Exhibit>& b);

}  // namespace tare::view
