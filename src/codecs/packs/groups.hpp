// Groups of columns that share a scale.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/once.hpp"
#include "codecs/packs/arrays.hpp"
#include "codecs/packs/pack.hpp"

namespace tare::codec::packs {

using GroupIndex = std::vector<std::uint32_t>;

// Which group each column is in: an array (act-order), or one group after the other.
class GroupOrder {
 public:
  // `array` may be null.
  GroupOrder(const Component* array, std::uint64_t columns, std::uint64_t group_size, std::uint64_t groups);

  // Null if there is none.
  const Array* array() const { return array_ ? &*array_ : nullptr; }
  // The group of each column; null if they follow each other. Throws `pack.index` for a group that does not exist.
  const GroupIndex* index() const;
  void verify(const std::function<void(Problem)>& report) const;

 private:
  // The first column with a group that does not exist.
  std::optional<std::uint64_t> read(GroupIndex& index, std::uint64_t& bad, std::int64_t& found) const;

  std::optional<Array> array_;
  std::uint64_t columns_, group_size_, groups_;
  mutable Once read_;
  mutable GroupIndex index_;
  mutable bool in_order_ = true;
};

// Of long rows, a tile has some columns, and needs the scales of their groups only.
struct GroupRange {
  std::uint64_t first = 0;
  std::size_t count = 0;
};
// Of the columns of a tile; of all groups, if an index says which is whose.
GroupRange groups_of(const Tile& tile, std::uint64_t group_size, std::uint64_t groups, const GroupIndex* index);
// An index is for rows that are made as a whole.
void refuse_long_index(const Tensor& tensor, std::string_view role);

// The columns from `column` on, `count` of them, by groups: `visit(at, part, group)` for the `part` columns behind the first `at`.
template <typename Visit>
void for_each_group(std::uint64_t column, std::size_t count, std::uint64_t group_size, const Visit& visit) {
  for (std::size_t at = 0; at < count;) {
    const std::uint64_t group = (column + at) / group_size, end = (group + 1) * group_size - column;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, end)) - at;
    visit(at, part, static_cast<std::size_t>(group));
    at += part;
  }
}

// The first columns of a row, taken apart: those of the first group, or, if an index says which group is whose, a few, with
// the index.
struct FirstGroup {
  std::uint64_t weights = 0, groups = 1;  // columns, and groups whose scales they need: from the first on
  const GroupIndex* index = nullptr;
  // The group's number of each column.
  std::vector<double> spread(const std::vector<double>& of_groups) const;
};
FirstGroup first_group(const GroupOrder& order, std::uint64_t columns, std::uint64_t group_size);

// scale * (code - zero) for codes whose first is that of `column`, counted from the first group of the scales and zeros, which
// are those of one row.
void scale_groups(std::span<const std::uint8_t> codes, std::uint64_t column, std::uint64_t group_size,
                  const GroupIndex* index, const float* scales, const float* zeros, float* out);

}  // namespace tare::codec::packs
