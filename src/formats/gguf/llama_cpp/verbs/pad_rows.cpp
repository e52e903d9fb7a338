// Verb::pad_rows: tables of tokens have rows of zeros for the tokens that other parts of a multimodal model make.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/whole.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/joined_blob.hpp"
#include "resources/json_file.hpp"
#include "tare/slice.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Attribute: how many rows there were.
constexpr std::string_view kRows = "gguf.rows";

}  // namespace

Tensor pad_rows(Tensor tensor, std::optional<double> count) {
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(whole_part(count.value_or(0)), 0));
  if (!has_elements(tensor, 2) || wanted <= tensor.shape[0]) return tensor;
  Component& data = tensor.components.front();
  const std::uint64_t row = data.blob.size() / tensor.shape[0], added = wanted - tensor.shape[0];
  if (added > resources::kMaxSmallBytes / row)
    throw unmapped(fmt::format("{}: expected about as many rows as the vocabulary has tokens, which are {}, found {}",
                               quote(tensor.name), wanted, tensor.shape[0]));
  tensor.attributes.set(kRows, static_cast<std::int64_t>(tensor.shape[0]));
  data.blob = joined_blob({data.blob, Blob::memory(Bytes(static_cast<std::size_t>(added * row)))});
  tensor.shape = {wanted, tensor.shape[1]};
  return tensor;
}

Tensor without_padding(Tensor tensor) {
  const Value* const kept = tensor.attributes.find(kRows);
  if (kept == nullptr) return tensor;
  const auto rows = resources::count_of(*kept);
  tensor.attributes.erase(kRows);
  if (!rows || tensor.shape.rank() != 2 || *rows >= tensor.shape[0]) return tensor;
  Tensor rest = slice(tensor, parse_slice(fmt::format(":{}", *rows)));
  rest.name = tensor.name;
  rest.attributes = std::move(tensor.attributes);
  return rest;
}

}  // namespace tare::gguf::llama_cpp
