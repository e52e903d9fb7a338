#include "codecs/packs/groups.hpp"

#include <fmt/format.h>

#include "base/endian.hpp"
#include "codecs/packs/kernels.hpp"
#include "codecs/streams.hpp"
#include "tare/error.hpp"

namespace tare::codec::packs {

GroupOrder::GroupOrder(const Component* array, std::uint64_t columns, std::uint64_t group_size, std::uint64_t groups)
    : columns_(columns), group_size_(group_size), groups_(groups) {
  if (array != nullptr) array_.emplace(*array);
}

std::optional<std::uint64_t> GroupOrder::read(GroupIndex& index, std::uint64_t& bad, std::int64_t& found) const {
  index.resize(static_cast<std::size_t>(columns_));
  Bytes buffer;
  // Copied, so that the checked values are those that are used.
  array_->component().blob.read(0, std::as_writable_bytes(std::span(index)));
  std::optional<std::uint64_t> first;
  for (std::size_t i = 0; i < index.size(); ++i) {
    index[i] = load_le<std::uint32_t>(reinterpret_cast<const std::byte*>(&index[i]));
    if (index[i] < groups_) continue;
    ++bad;
    if (first) continue;
    first = i;
    found = static_cast<std::int32_t>(index[i]);
  }
  return first;
}

const GroupIndex* GroupOrder::index() const {
  if (!array_) return nullptr;
  read_.run([&] {
    GroupIndex index;
    std::uint64_t bad = 0;
    std::int64_t found = 0;
    if (const auto first = read(index, bad, found))
      throw Error(ErrorKind::corrupt, "pack.index",
                  fmt::format("the group of input {} is {}; there are {}", *first, found, groups_));
    for (std::size_t i = 0; i < index.size() && in_order_; ++i) in_order_ = index[i] == i / group_size_;
    if (!in_order_) index_ = std::move(index);
  });
  return in_order_ ? nullptr : &index_;
}

void GroupOrder::verify(const std::function<void(Problem)>& report) const {
  if (!array_) return;
  GroupIndex index;
  std::uint64_t bad = 0;
  std::int64_t found = 0;
  if (const auto first = read(index, bad, found))
    report(
        {"pack.index",
         fmt::format("the group of input {} is {}; there are {} ({} such inputs in all)", *first, found, groups_, bad),
         file_offset(array_->component().blob, *first * 4)});
}

GroupRange groups_of(const Tile& tile, std::uint64_t group_size, std::uint64_t groups, const GroupIndex* index) {
  if (index != nullptr || tile.columns == 0) return {0, groups};
  const std::uint64_t first = tile.column / group_size;
  return {first, (tile.column + tile.columns - 1) / group_size - first + 1};
}

void refuse_long_index(const Tensor& tensor, std::string_view role) {
  if (tensor.component(role) != nullptr && tensor.shape.back() > Maker::kLongRow)
    refuse_variant(fmt::format("an order of groups for more than {} inputs is not decoded", Maker::kLongRow));
}

std::vector<double> FirstGroup::spread(const std::vector<double>& of_groups) const {
  if (index == nullptr) return of_groups;
  std::vector<double> values(static_cast<std::size_t>(weights));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = of_groups[(*index)[i]];
  return values;
}

FirstGroup first_group(const GroupOrder& order, std::uint64_t columns, std::uint64_t group_size) {
  FirstGroup first;
  first.index = order.index();
  first.weights = std::min({columns, first.index == nullptr ? group_size : columns, kMostExplained});
  if (first.index == nullptr) return first;
  for (std::size_t i = 0; i < first.weights; ++i)
    first.groups = std::max<std::uint64_t>(first.groups, (*first.index)[i] + 1);
  return first;
}

void scale_groups(std::span<const std::uint8_t> codes, std::uint64_t column, std::uint64_t group_size,
                  const GroupIndex* index, const float* scales, const float* zeros, float* out) {
  if (index != nullptr) {
    const std::uint32_t* const groups = index->data() + column;
    for (std::size_t i = 0; i < codes.size(); ++i)
      out[i] = scales[groups[i]] * (static_cast<float>(codes[i]) - zeros[groups[i]]);
    return;
  }
  for_each_group(column, codes.size(), group_size, [&](std::size_t at, std::size_t count, std::size_t group) {
    scale_codes(codes.data() + at, count, scales[group], zeros[group], out + at);
  });
}

}  // namespace tare::codec::packs
