// Verb::deal_rows: gate and up in one tensor, where their rows take turns.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {

std::pair<Tensor, Tensor> deal_rows(const Tensor& tensor) {
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
