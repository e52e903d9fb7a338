// Pairs the tensors of two models, by name. If the two use different naming conventions (names_differ), both are first
// brought to a common one, which also restores the order of matrix rows. `tare diff` does the same.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "view/open_model.hpp"

namespace tare::view {

struct Pair {
  std::int64_t a = -1, b = -1;  // number in the model; -1: no stored tensor corresponds to it
  // The tensors that are compared; null: the model has no such tensor.
  const Tensor *of_first = nullptr, *of_second = nullptr;

  bool in_a() const { return of_first != nullptr; }
  bool in_b() const { return of_second != nullptr; }
  // An empty tensor if the model has none.
  const Tensor& tensor_a() const { return in_a() ? *of_first : nothing(); }
  const Tensor& tensor_b() const { return in_b() ? *of_second : nothing(); }

  static const Tensor& nothing();
};

struct Pairing {
  std::vector<Pair> pairs;               // in the order of a, then those only in b
  std::vector<std::int64_t> of_a, of_b;  // tensor of a model -> index in pairs; -1: none
  bool renamed = false;
  std::vector<std::shared_ptr<const void>> owners;  // keep the tensors alive
};

Pairing pair_up(const std::shared_ptr<const OpenModel>& a, const std::shared_ptr<const OpenModel>& b);

}  // namespace tare::view
