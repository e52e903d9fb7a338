// Weights plus the product of two small matrices, computed a few rows at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tare/model.hpp"

namespace tare {

// The summand for a matrix of `rows` times `columns`: scale * left * right.
struct LowRank {
  // left: [rows, rank], right: [rank, columns]; if `transposed`, the tensors are [rank, rows] and [columns, rank].
  Tensor left, right;
  bool transposed = false;
  std::uint64_t rows = 0, columns = 0, rank = 0;
  float scale = 0;
  // For DoRA: after the sum, each row is scaled to this length. [rows]
  std::optional<Tensor> lengths = std::nullopt;
};

// `weight` is dense; the result is f32. The products are summed in order of the rank, then scaled, then added to the
// weight, each step rounded to f32: the same bits on every machine.
Tensor add_low_rank(const Tensor& weight, LowRank added);

}  // namespace tare
