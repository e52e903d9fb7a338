// Weights with the product of two small matrices added, made a few rows at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tare/model.hpp"

namespace tare {

// What is added to a matrix of `rows` times `columns`: scale * left * right.
struct LowRank {
  // left: [rows, rank], right: [rank, columns], as the tensors have them or, `transposed`, the other way round:
  // [rank, rows] and [columns, rank].
  Tensor left, right;
  bool transposed = false;
  std::uint64_t rows = 0, columns = 0, rank = 0;
  float scale = 0;
  // DoRA's: after the sum, each row is brought to this length. [rows]
  std::optional<Tensor> lengths = std::nullopt;
};

// `weight` is dense; the result is f32. The sum over the ranks is taken in their order, then scaled, then added to the weight,
// each step rounded to f32: the same bits on every machine.
Tensor add_low_rank(const Tensor& weight, LowRank added);

}  // namespace tare
