// Elements of a tensor in another order, read lazily; Verb::transpose, Verb::squeeze and Verb::reshape.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/sliced_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {

SliceAxis axis(std::uint64_t count, std::uint64_t stride) { return {count, static_cast<std::int64_t>(stride)}; }

Tensor picked(const Tensor& tensor, const Shape& shape, std::uint64_t first, std::span<const SliceAxis> axes) {
  const Component& data = tensor.components.front();
  SlicePlan plan;
  plan.elements = shape.elements().value_or(0);
  plan.first = first;
  arrange(plan, axes);
  Tensor result = tensor;
  result.shape = shape;
  result.components.front().blob =
      sliced_blob(data.blob, std::move(plan), data.blob.size() / tensor.shape.elements().value_or(1));
  return result;
}

bool has_elements(const Tensor& tensor, std::size_t rank) {
  return tensor.is_dense() && tensor.shape.rank() == rank && tensor.shape.elements().value_or(0) > 0 &&
         tensor.components.front().type.empty();
}

Tensor transposed_last(const Tensor& tensor) {
  const std::size_t rank = tensor.shape.rank();
  if (rank < 2) return tensor;
  if (has_packed_columns(tensor)) return packed_rows(tensor);
  const Tensor all = to_dense(tensor);
  if (rank > 3 || !has_elements(all, rank))
    throw unmapped(fmt::format("{}: expected matrices, found the shape {}", quote(tensor.name), tensor.shape.text()));
  const std::uint64_t count = rank == 3 ? all.shape[0] : 1, rows = all.shape[rank - 2], columns = all.shape[rank - 1];
  const SliceAxis axes[] = {axis(count, rows * columns), axis(columns, 1), axis(rows, columns)};
  return picked(all, rank == 3 ? Shape{count, columns, rows} : Shape{columns, rows}, 0, axes);
}

Tensor squeezed(Tensor tensor) {
  if (!tensor.is_dense() || tensor.shape.rank() != 3 || tensor.shape[1] != 1)
    throw unmapped(fmt::format("{}: expected channels with one row each, found the shape {}", quote(tensor.name),
                               tensor.shape.text()));
  tensor.shape = {tensor.shape[0], tensor.shape[2]};
  return tensor;
}

Tensor unsqueezed(Tensor tensor) {
  if (tensor.shape.rank() != 2)
    throw no_way_back(fmt::format("{}: expected a row for each channel, found the shape {}", quote(tensor.name),
                                  tensor.shape.text()));
  tensor = to_dense(tensor);
  tensor.shape = {tensor.shape[0], 1, tensor.shape[1]};
  return tensor;
}

Tensor reshaped(Tensor tensor, std::uint64_t rows) {
  const auto elements = tensor.shape.elements();
  const std::uint64_t all = elements.value_or(0), count = rows == 0 ? all : rows;
  if (!tensor.is_dense() || tensor.shape.rank() != 1 || all == 0 || all % count != 0)
    throw unmapped(fmt::format("{}: expected a vector of {} parts, found the shape {}", quote(tensor.name),
                               rows == 0 ? "single" : fmt::format("{}", rows), tensor.shape.text()));
  tensor.shape = {count, all / count};
  return tensor;
}

Tensor flattened(Tensor tensor) {
  const auto elements = tensor.shape.elements();
  if (!tensor.is_dense() || !elements)
    throw no_way_back(
        fmt::format("{}: expected a vector, found the shape {}", quote(tensor.name), tensor.shape.text()));
  tensor.shape = {*elements};
  return tensor;
}

}  // namespace tare::gguf::llama_cpp
