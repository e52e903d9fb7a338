// Verb::split_heads: what expands the short vectors of latent attention to keys and values, head by head. The part for keys
// is transposed, because GGUF's runtime multiplies queries by it.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {
std::pair<Tensor, Tensor> split_heads(const Tensor& tensor, const Config& config, std::optional<double> first) {
  const Tensor all = to_dense(tensor);
  const auto heads = static_cast<std::uint64_t>(std::max<std::int64_t>(config.num_attention_heads.value_or(0), 0));
  const std::uint64_t rows = heads == 0 || all.shape.empty() ? 0 : all.shape[0] / heads;
  constexpr double kMost = 1 << 30;
  const auto keys = static_cast<std::uint64_t>(std::clamp(first.value_or(0), 0.0, kMost));
  if (!has_elements(all, 2) || rows * heads != all.shape[0] || keys == 0 || keys >= rows)
    throw unmapped(fmt::format("{}: expected {} heads of more than {} rows each, found the shape {}",
                               quote(tensor.name), heads, keys, tensor.shape.text()));
  const std::uint64_t columns = all.shape[1], values = rows - keys;
  const SliceAxis of_keys[] = {axis(heads, rows * columns), axis(columns, 1), axis(keys, columns)},
                  of_values[] = {axis(heads, rows * columns), axis(values * columns, 1)};
  return {picked(all, {heads, columns, keys}, 0, of_keys),
          picked(all, {heads, values, columns}, keys * columns, of_values)};
}

Tensor join_heads(const Tensor& first, const Tensor& second) {
  const Tensor one = to_dense(first), other = to_dense(second);
  if (!has_elements(one, 3) || !has_elements(other, 3) || one.shape[0] != other.shape[0] ||
      one.shape[1] != other.shape[2] || one.components.front().dtype != other.components.front().dtype)
    throw no_way_back(fmt::format("{} ({}) and {} ({}) are not the parts of one tensor", quote(first.name),
                                  first.shape.text(), quote(second.name), second.shape.text()));
  Tensor all = transposed_last(one);
  const std::uint64_t heads = all.shape[0];
  const Blob keys = all.components.front().blob, values = other.components.front().blob;
  all.shape = {heads * (all.shape[1] + other.shape[1]), all.shape[2]};
  all.components.front().blob = interleaved_blob(keys, keys.size() / heads, values, values.size() / heads);
  return all;
}

}  // namespace tare::gguf::llama_cpp
