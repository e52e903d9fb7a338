// Verb::halve_rows: separates what a program has stored as one matrix per expert. There is no inverse: where this verb
// is used, the way back leads to the tensors of single experts (arch/patterns.hpp).
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {

std::pair<Tensor, Tensor> halve_rows(const Tensor& tensor) {
  if (!tensor.is_dense() || tensor.shape.rank() != 3 || tensor.shape[1] % 2 != 0)
    throw unmapped(fmt::format("{}: expected a stack of pairs of matrices", quote(tensor.name)));
  const std::uint64_t half = tensor.shape[1] / 2;
  std::pair halves(slice(tensor, parse_slice(fmt::format(":,:{}", half))),
                   slice(tensor, parse_slice(fmt::format(":,{}:", half))));
  halves.first.name = halves.second.name = tensor.name;
  return halves;
}

}  // namespace tare::gguf::llama_cpp
