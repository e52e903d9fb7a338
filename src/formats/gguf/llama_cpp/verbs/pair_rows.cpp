// Verb::pair_rows: moves the rows of q and k inside their heads.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kUnknownHeads = "the number of heads, which determines the row order of q and k, is unknown";

Tensor with_rows_in(Tensor tensor, std::uint64_t heads, arch::HeadRows& sizes, arch::QkOrder order) {
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape[0];
  sizes.check(rows, heads);
  if (tensor.is_dense()) return arch::reorder_qk(tensor, heads, order);
  Blob& blob = tensor.components.front().blob;
  blob = arch::reorder_qk(blob, rows, heads, order);
  return tensor;
}

}  // namespace

bool has_whole_rows(const Tensor& tensor) { return tensor.is_dense() || tensor.layout.starts_with("ggml."); }

Tensor pair_rows(Tensor tensor, arch::Role role, const Config& config, arch::HeadRows& heads) {
  const auto count = arch::rotated_heads(role, config);
  if (!count) throw unmapped(std::string(kUnknownHeads));
  if (!has_whole_rows(tensor)) tensor = to_dense(tensor);
  const std::string name = tensor.name;
  try {
    return with_rows_in(std::move(tensor), *count, heads, arch::QkOrder::pairs);
  } catch (const Error& error) {
    throw unmapped(fmt::format("{}: {}", quote(name), error.sentence()));
  }
}

Tensor unpair_rows(Tensor tensor, arch::Role role, const Config& config, arch::HeadRows& heads) {
  const std::string name = tensor.name;
  const auto count = arch::rotated_heads(role, config);
  if (!count) throw no_way_back(std::string(kUnknownHeads)).about("tensor " + quote(name));
  try {
    return with_rows_in(std::move(tensor), *count, heads, arch::QkOrder::halves);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    throw no_way_back(error.sentence()).about("tensor " + quote(name)).blame(Subject::input);
  }
}

}  // namespace tare::gguf::llama_cpp
