// Verb::halve_rows: separates what a program has stored as one matrix per expert. The inverse is used where a family has no
// tensors of single experts (arch/patterns.hpp); in others, the way back leads to those.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "tare/codec.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {

std::pair<Tensor, Tensor> halve_rows(const Tensor& tensor) {
  const std::size_t rank = tensor.shape.rank();
  if (!tensor.is_dense() || rank < 2 || rank > 3 || tensor.shape[rank - 2] % 2 != 0)
    throw unmapped(
        fmt::format("{}: expected pairs of matrices, found the shape {}", quote(tensor.name), tensor.shape.text()));
  const std::uint64_t half = tensor.shape[rank - 2] / 2;
  const std::string_view all = rank == 3 ? ":," : "";
  std::pair halves(slice(tensor, parse_slice(fmt::format("{}:{}", all, half))),
                   slice(tensor, parse_slice(fmt::format("{}{}:", all, half))));
  halves.first.name = halves.second.name = tensor.name;
  return halves;
}

Tensor join_rows(const Tensor& first, const Tensor& second) {
  const Tensor a = to_dense(first), b = to_dense(second);
  const Component &one = a.components.front(), &other = b.components.front();
  const std::size_t rank = a.shape.rank();
  if (rank < 2 || rank > 3 || a.shape != b.shape || one.dtype != other.dtype || one.type != other.type)
    throw no_way_back(fmt::format("{} and {} are not the halves of one tensor: they differ in shape or type",
                                  quote(first.name), quote(second.name)));
  if (a.shape.elements().value_or(0) == 0)
    throw no_way_back(fmt::format("{} has no elements: its shape is {}", quote(first.name), a.shape.text()));
  Tensor all = a;
  all.shape[rank - 2] *= 2;
  const std::uint64_t step = one.blob.size() / (rank == 3 ? a.shape[0] : 1);
  all.components.front().blob = interleaved_blob(one.blob, step, other.blob, step);
  return all;
}

}  // namespace tare::gguf::llama_cpp
