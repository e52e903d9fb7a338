#include "arch/qk_rows.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/sliced_blob.hpp"
#include "tare/error.hpp"

namespace tare::arch {

std::optional<std::uint64_t> rotated_heads(Role role, const Config& config) {
  if (role == Role::tower_q || role == Role::tower_k) role = Role::q;
  if (role != Role::q && role != Role::k) return std::nullopt;
  const std::optional<std::int64_t>& all = config.num_attention_heads;
  const std::optional<std::int64_t>& heads =
      role == Role::k && config.num_key_value_heads ? config.num_key_value_heads : all;
  if (!heads || *heads <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*heads);
}

HeadRows::HeadRows(const Family& family, const Config& config) {
  const std::int64_t heads = config.num_attention_heads.value_or(0), hidden = config.hidden_size.value_or(0);
  if (config.head_dim.value_or(0) > 0)
    size_ = static_cast<std::uint64_t>(*config.head_dim);
  else if (!config.head_dim && !family.own_head_size && heads > 0 && hidden > 0 && hidden % heads == 0)
    size_ = static_cast<std::uint64_t>(hidden / heads);
}

void HeadRows::check(std::uint64_t rows, std::uint64_t heads) {
  if (heads == 0 || rows % heads != 0 || (size_ && rows / heads != *size_))
    throw Error(ErrorKind::usage, "arch.qk.heads",
                size_ ? fmt::format("expected {} heads of {} rows each, found {} rows", heads, *size_, rows)
                      : fmt::format("expected {} heads of equal size, found {} rows", heads, rows));
  size_ = rows / heads;
}

Blob reorder_qk(const Blob& blob, std::uint64_t rows, std::uint64_t heads, QkOrder to) {
  if (heads == 0 || rows % heads != 0 || rows / heads % 2 != 0)
    throw Error(ErrorKind::usage, "arch.qk.heads",
                fmt::format("expected {} heads of an even number of rows each, found {} rows", heads, rows));
  if (rows == 0 ? blob.size() != 0 : blob.size() % rows != 0 || !std::in_range<std::int64_t>(blob.size()))
    throw Error(ErrorKind::usage, "arch.qk.bytes",
                fmt::format("{} bytes are not {} rows of the same size", blob.size(), rows));
  if (blob.size() == 0) return blob;
  const std::uint64_t head = rows / heads, row = blob.size() / rows;
  const auto axis = [&](std::uint64_t count, std::uint64_t step) {
    return SliceAxis{count, static_cast<std::int64_t>(step * row)};
  };
  // Each row is a separate run: the runs of a block are sorted before they are read, and those of one head interleave.
  SlicePlan plan;
  plan.elements = blob.size();
  plan.run = row;
  plan.outer.push_back(axis(heads, head));
  plan.outer.push_back(to == QkOrder::pairs ? axis(head / 2, 1) : axis(2, 1));
  plan.outer.push_back(to == QkOrder::pairs ? axis(2, head / 2) : axis(head / 2, 2));
  return sliced_blob(blob, std::move(plan), 1);
}

Tensor reorder_qk(const Tensor& tensor, std::uint64_t heads, QkOrder to) {
  const Component* const data = tensor.is_dense() ? tensor.component("data") : nullptr;
  if (data == nullptr || tensor.shape.rank() == 0)
    throw Error(
        ErrorKind::usage, "arch.qk.layout",
        fmt::format("expected the rows of a dense tensor, found {} of shape {}", tensor.layout, tensor.shape.text()))
        .about(tensor.name);
  try {
    Tensor result =
        dense(tensor.name, tensor.shape, data->dtype, reorder_qk(data->blob, tensor.shape[0], heads, to), data->type);
    result.attributes = tensor.attributes;
    return result;
  } catch (Error& error) {
    throw error.about(tensor.name);
  }
}

}  // namespace tare::arch
