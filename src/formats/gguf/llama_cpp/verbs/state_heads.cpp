// Verbs for layers with a state in place of attention (Qwen3-Next, Qwen 3.5).
//
// Verb::part_heads: each head of keys has its rows together: queries, keys, values of the heads of values that belong to it, and
// as many gates. GGUF has all queries, then all keys, then all values; and all gates.
//
// Verb::tile_rows, Verb::tile_columns: heads of values are in groups, one for each head of keys. GGUF's runtime repeats the heads
// of keys as a whole, so it needs the first head of each group, then the second of each, and so on. Only the last rows are
// those of values: queries and keys may come before.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "model/joined_blob.hpp"
#include "model/sliced_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::uint64_t kMost = 1 << 20;

std::uint64_t count_of(std::optional<double> number) {
  return static_cast<std::uint64_t>(std::clamp(number.value_or(0), 0.0, static_cast<double>(kMost)));
}

bool are_groups(const StateHeads& heads) {
  return heads.keys > 0 && heads.values % heads.keys == 0 && heads.values > 0 && heads.key_size > 0 &&
         heads.value_size > 0;
}

std::string mismatch(const Tensor& tensor, const StateHeads& heads) {
  return fmt::format("{}: expected {} heads of keys ({} elements each) and {} of values ({} each), found the shape {}",
                     quote(tensor.name), heads.keys, heads.key_size, heads.values, heads.value_size,
                     tensor.shape.text());
}

// A tensor whose rows can be moved as a whole, and how many bytes one has.
struct RowBytes {
  const Blob& blob;
  std::uint64_t rows, bytes;
};
std::optional<RowBytes> rows_of(const Tensor& tensor) {
  if (!has_whole_rows(tensor) || tensor.components.size() != 1 || tensor.shape.empty() ||
      tensor.shape.elements().value_or(0) == 0)
    return std::nullopt;
  const Blob& blob = tensor.components.front().blob;
  if (blob.size() % tensor.shape[0] != 0) return std::nullopt;
  return RowBytes{blob, tensor.shape[0], blob.size() / tensor.shape[0]};
}

Blob moved(const RowBytes& all, std::uint64_t first, std::span<const SliceAxis> axes) {
  SlicePlan plan;
  plan.elements = 1;
  for (const SliceAxis& one : axes) plan.elements *= one.count;
  plan.first = first;
  arrange(plan, axes);
  return sliced_blob(all.blob, std::move(plan), all.bytes);
}

Blob run(const RowBytes& all, std::uint64_t first, std::uint64_t count) {
  const SliceAxis axes[] = {axis(count, 1)};
  return moved(all, first, axes);
}

Tensor with_rows(const Tensor& tensor, std::uint64_t rows, Blob blob) {
  Tensor result = tensor;
  result.shape[0] = rows;
  result.components.front().blob = std::move(blob);
  return result;
}

// The last rows are `outer` groups of `inner` heads of `size` rows each: afterwards the first head of each group comes first.
std::optional<Tensor> swapped_rows(const Tensor& tensor, std::uint64_t outer, std::uint64_t inner, std::uint64_t size) {
  const auto all = rows_of(tensor);
  const std::uint64_t last = outer * inner * size;
  if (!all || last == 0 || last > all->rows) return std::nullopt;
  const std::uint64_t before = all->rows - last;
  const SliceAxis axes[] = {axis(inner, size), axis(outer, inner * size), axis(size, 1)};
  const Blob heads = moved(*all, before, axes);
  return with_rows(tensor, all->rows, before == 0 ? heads : joined_blob({run(*all, 0, before), heads}));
}

std::optional<Tensor> swapped_columns(const Tensor& tensor, std::uint64_t outer, std::uint64_t inner,
                                      std::uint64_t size) {
  const Tensor all = to_dense(tensor);
  if (!has_elements(all, 2) || outer * inner * size == 0 || all.shape[1] != outer * inner * size) return std::nullopt;
  const SliceAxis axes[] = {axis(all.shape[0], all.shape[1]), axis(inner, size), axis(outer, inner * size),
                            axis(size, 1)};
  return picked(all, all.shape, 0, axes);
}

}  // namespace

StateHeads state_heads_of(const ConfigFile& file) {
  return {.keys = count_of(file.number("linear_num_key_heads")),
          .values = count_of(file.number("linear_num_value_heads")),
          .key_size = count_of(file.number("linear_key_head_dim")),
          .value_size = count_of(file.number("linear_value_head_dim"))};
}

StateHeads state_heads_of(const Model& model, const arch::Family& family) {
  const ArchKeys keys(model, family);
  StateHeads heads{.keys = count_of(keys.number("ssm.group_count")),
                   .values = count_of(keys.number("ssm.time_step_rank")),
                   .key_size = count_of(keys.number("ssm.state_size"))};
  if (heads.values > 0) heads.value_size = count_of(keys.number("ssm.inner_size")) / heads.values;
  return heads;
}

std::pair<Tensor, Tensor> part_heads(const Tensor& tensor, const StateHeads& heads) {
  const auto all = rows_of(tensor);
  const std::uint64_t values = are_groups(heads) ? heads.values / heads.keys * heads.value_size : 0;
  const std::uint64_t group = 2 * (heads.key_size + values);
  if (!all || tensor.shape.rank() != 2 || values == 0 || all->rows != heads.keys * group)
    throw unmapped(mismatch(tensor, heads));
  const auto part = [&](std::uint64_t first, std::uint64_t count) {
    const SliceAxis axes[] = {axis(heads.keys, group), axis(count, 1)};
    return moved(*all, first, axes);
  };
  const std::uint64_t keys = heads.key_size;
  return {with_rows(tensor, heads.keys * (2 * keys + values),
                    joined_blob({part(0, keys), part(keys, keys), part(2 * keys, values)})),
          with_rows(tensor, heads.keys * values, part(2 * keys + values, values))};
}

Tensor rejoin_heads(const Tensor& first, const Tensor& second, const StateHeads& heads) {
  const bool alike = first.layout == second.layout && !first.components.empty() && !second.components.empty() &&
                     first.components.front().dtype == second.components.front().dtype;
  const Tensor one = alike ? first : to_dense(first), other = alike ? second : to_dense(second);
  const auto all = rows_of(one), gates = rows_of(other);
  const std::uint64_t values = are_groups(heads) ? heads.values / heads.keys * heads.value_size : 0;
  if (!all || !gates || one.layout != other.layout || one.shape.rank() != 2 || values == 0 ||
      all->bytes != gates->bytes || all->rows != heads.keys * (2 * heads.key_size + values) ||
      gates->rows != heads.keys * values)
    throw no_way_back(mismatch(first, heads));
  const std::uint64_t keys = heads.key_size, row = all->bytes;
  const Blob queries = run(*all, 0, heads.keys * keys), of_keys = run(*all, heads.keys * keys, heads.keys * keys),
             of_values = run(*all, 2 * heads.keys * keys, heads.keys * values);
  return with_rows(
      one, all->rows + gates->rows,
      interleaved_blob(interleaved_blob(queries, keys * row, of_keys, keys * row), 2 * keys * row,
                       interleaved_blob(of_values, values * row, gates->blob, values * row), 2 * values * row));
}

Tensor tile_rows(Tensor tensor, const StateHeads& heads, bool by_elements) {
  if (!are_groups(heads)) throw unmapped(mismatch(tensor, heads));
  if (heads.keys == heads.values) return tensor;
  const auto found = swapped_rows(tensor, heads.keys, heads.values / heads.keys, by_elements ? 1 : heads.value_size);
  if (!found) throw unmapped(mismatch(tensor, heads));
  return *found;
}

Tensor untile_rows(Tensor tensor, const StateHeads& heads, bool by_elements) {
  if (!are_groups(heads)) throw no_way_back(mismatch(tensor, heads));
  if (heads.keys == heads.values) return tensor;
  const auto found = swapped_rows(tensor, heads.values / heads.keys, heads.keys, by_elements ? 1 : heads.value_size);
  if (!found) throw no_way_back(mismatch(tensor, heads));
  return *found;
}

Tensor tile_columns(const Tensor& tensor, const StateHeads& heads) {
  if (!are_groups(heads)) throw unmapped(mismatch(tensor, heads));
  if (heads.keys == heads.values) return tensor;
  const auto found = swapped_columns(tensor, heads.keys, heads.values / heads.keys, heads.value_size);
  if (!found) throw unmapped(mismatch(tensor, heads));
  return *found;
}

Tensor untile_columns(const Tensor& tensor, const StateHeads& heads) {
  if (!are_groups(heads)) throw no_way_back(mismatch(tensor, heads));
  if (heads.keys == heads.values) return tensor;
  const auto found = swapped_columns(tensor, heads.values / heads.keys, heads.keys, heads.value_size);
  if (!found) throw no_way_back(mismatch(tensor, heads));
  return *found;
}

}  // namespace tare::gguf::llama_cpp
