// Verb::deal_rows: gate and up in one tensor, where their rows take turns.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "model/sliced_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {

namespace {

// Returns whether the rows of experts consist of whole blocks, so that they need not be decoded.
bool has_rows_of_blocks(const Tensor& tensor) {
  const std::uint64_t rows = tensor.shape.rank() == 3 ? tensor.shape[0] * tensor.shape[1] : 0;
  return !tensor.is_dense() && has_whole_rows(tensor) && tensor.components.size() == 1 &&
         tensor.shape.elements().value_or(0) > 0 && tensor.components.front().blob.size() % rows == 0;
}

std::pair<Tensor, Tensor> deal_blocks(const Tensor& tensor) {
  const std::uint64_t experts = tensor.shape[0], rows = tensor.shape[1] / 2;
  const Blob& blob = tensor.components.front().blob;
  const SliceAxis axes[] = {axis(experts, 2 * rows), axis(rows, 2)};
  std::pair parts(tensor, tensor);
  for (auto [part, first] : {std::pair(&parts.first, 0), std::pair(&parts.second, 1)}) {
    SlicePlan plan;
    plan.elements = experts * rows;
    plan.first = static_cast<std::uint64_t>(first);
    arrange(plan, axes);
    part->shape[1] = rows;
    part->components.front().blob = sliced_blob(blob, std::move(plan), blob.size() / (experts * rows * 2));
  }
  return parts;
}

Tensor merge_blocks(const Tensor& first, const Tensor& second) {
  Tensor all = first;
  all.shape[1] *= 2;
  const Blob &even = first.components.front().blob, &odd = second.components.front().blob;
  const std::uint64_t row = even.size() / (first.shape[0] * first.shape[1]);
  all.components.front().blob = interleaved_blob(even, row, odd, row);
  return all;
}

}  // namespace

std::pair<Tensor, Tensor> deal_rows(const Tensor& tensor) {
  if (has_rows_of_blocks(tensor) && tensor.shape[1] % 2 == 0) return deal_blocks(tensor);
  const Tensor all = to_dense(tensor);
  const std::size_t rank = all.shape.rank();
  if (rank < 2 || rank > 3 || !has_elements(all, rank) || all.shape[1] % 2 != 0)
    throw unmapped(fmt::format("{}: expected pairs of rows for each expert, found the shape {}", quote(tensor.name),
                               tensor.shape.text()));
  const std::uint64_t experts = all.shape[0], rows = all.shape[1] / 2, row = rank == 3 ? all.shape[2] : 1;
  const SliceAxis axes[] = {axis(experts, 2 * rows * row), axis(rows, 2 * row), axis(row, 1)};
  Shape shape = all.shape;
  shape[1] = rows;
  return {picked(all, shape, 0, axes), picked(all, shape, row, axes)};
}

Tensor merge_rows(const Tensor& first, const Tensor& second) {
  if (has_rows_of_blocks(first) && has_rows_of_blocks(second) && first.layout == second.layout &&
      first.shape == second.shape && first.components.front().blob.size() == second.components.front().blob.size())
    return merge_blocks(first, second);
  const Tensor one = to_dense(first), other = to_dense(second);
  const std::size_t rank = one.shape.rank();
  if (rank < 2 || rank > 3 || !has_elements(one, rank) || !has_elements(other, rank) || one.shape != other.shape ||
      one.components.front().dtype != other.components.front().dtype)
    throw no_way_back(fmt::format("{} ({}) and {} ({}) are not the halves of one tensor", quote(first.name),
                                  first.shape.text(), quote(second.name), second.shape.text()));
  Tensor all = one;
  all.shape[1] *= 2;
  const Blob even = one.components.front().blob, odd = other.components.front().blob;
  const std::uint64_t row = even.size() / (one.shape[0] * one.shape[1]);
  all.components.front().blob = interleaved_blob(even, row, odd, row);
  return all;
}

}  // namespace tare::gguf::llama_cpp
