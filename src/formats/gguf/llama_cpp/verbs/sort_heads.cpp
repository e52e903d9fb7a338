// Verb::sort_heads: the rows of one matrix (or the elements of its bias) for queries, keys and values. Each group of heads
// that share a key has them together: queries of each head, key, value. GGUF has all queries, then all keys, then all values.
#include <fmt/format.h>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "model/interleaved_blob.hpp"
#include "model/joined_blob.hpp"
#include "tare/codec.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// In elements.
struct Groups {
  std::uint64_t count = 0;    // one for each head of keys
  std::uint64_t queries = 0;  // in each group
  std::uint64_t key = 0;      // in each group; values have as many

  std::uint64_t all() const { return queries + 2 * key; }
};

std::optional<Groups> groups_in(const Tensor& tensor, const Config& config) {
  const std::size_t rank = tensor.shape.rank();
  if (rank == 0 || rank > 2 || !has_elements(tensor, rank)) return std::nullopt;
  const std::int64_t heads = config.num_attention_heads.value_or(0);
  const std::int64_t keys = config.num_key_value_heads.value_or(heads);
  constexpr std::int64_t kMost = 1 << 24;
  if (heads <= 0 || keys <= 0 || heads > kMost || keys > heads || heads % keys != 0) return std::nullopt;
  const auto count = static_cast<std::uint64_t>(keys), per = static_cast<std::uint64_t>(heads / keys);
  if (tensor.shape[0] % (count * (per + 2)) != 0) return std::nullopt;
  const std::uint64_t key = tensor.shape[0] / (count * (per + 2)) * (rank == 2 ? tensor.shape[1] : 1);
  return Groups{.count = count, .queries = per * key, .key = key};
}

std::string mismatch(const Tensor& tensor, const Config& config) {
  const std::int64_t heads = config.num_attention_heads.value_or(0);
  return fmt::format("{}: expected queries of {} heads, and keys and values of {}, found the shape {}",
                     quote(tensor.name), heads, config.num_key_value_heads.value_or(heads), tensor.shape.text());
}

// A part of each group, as consecutive bytes.
Blob part(const Tensor& tensor, const Groups& groups, std::uint64_t first, std::uint64_t size) {
  const SliceAxis axes[] = {axis(groups.count, groups.all()), axis(size, 1)};
  return picked(tensor, {groups.count * size}, first, axes).components.front().blob;
}

// Consecutive elements.
Blob run(const Tensor& tensor, std::uint64_t first, std::uint64_t size) {
  const SliceAxis axes[] = {axis(size, 1)};
  return picked(tensor, {size}, first, axes).components.front().blob;
}

}  // namespace

Tensor sort_heads(const Tensor& tensor, const Config& config) {
  Tensor all = to_dense(tensor);
  const auto groups = groups_in(all, config);
  if (!groups) throw unmapped(mismatch(tensor, config));
  all.components.front().blob =
      joined_blob({part(all, *groups, 0, groups->queries), part(all, *groups, groups->queries, groups->key),
                   part(all, *groups, groups->queries + groups->key, groups->key)});
  return all;
}

Tensor unsort_heads(const Tensor& tensor, const Config& config) {
  Tensor all = to_dense(tensor);
  const auto groups = groups_in(all, config);
  if (!groups) throw no_way_back(mismatch(tensor, config));
  const std::uint64_t queries = groups->count * groups->queries, keys = groups->count * groups->key;
  const std::uint64_t size = all.components.front().blob.size() / all.shape.elements().value_or(1);
  const Blob pairs =
      interleaved_blob(run(all, queries, keys), groups->key * size, run(all, queries + keys, keys), groups->key * size);
  all.components.front().blob =
      interleaved_blob(run(all, 0, queries), groups->queries * size, pairs, 2 * groups->key * size);
  return all;
}

}  // namespace tare::gguf::llama_cpp
