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

// The group of each column: from an array (act-order), or one group after the other.
class GroupOrder {
 public:
  // `array` may be null.
  GroupOrder(const Component* array, std::uint64_t columns, std::uint64_t group_size, std::uint64_t groups);

  // Null if there is none.
  const Array* array() const { return array_ ? &*array_ : nullptr; }
  // The group of each column; null if groups are in order. Throws `pack.index` for a group that does not exist.
  const GroupIndex* index() const;
  void verify(const std::function<void(Problem)>& report) const;

 private:
  // Returns the first column with a group that does not exist.
  std::optional<std::uint64_t> read(GroupIndex& index, std::uint64_t& bad, std::int64_t& found) const;

  std::optional<Array> array_;
  std::uint64_t columns_, group_size_, groups_;
  mutable Once read_;
  mutable GroupIndex index_;
  mutable bool in_order_ = true;
};

// A tile of a long row has only some of its columns and needs only the scales of their groups.
struct GroupRange {
  std::uint64_t first = 0;
  std::size_t count = 0;
};
// The groups of a tile's columns; all groups if there is an index.
GroupRange groups_of(const Tile& tile, std::uint64_t group_size, std::uint64_t groups, const GroupIndex* index);
// Refuses an index for rows that are made in parts.
void refuse_long_index(const Tensor& tensor, std::string_view role);

// Calls visit(at, part, group) for each group among `count` columns from `column` on: `part` columns, `at` columns
// after the first.
template <typename Visit>
void for_each_group(std::uint64_t column, std::size_t count, std::uint64_t group_size, const Visit& visit) {
  for (std::size_t at = 0; at < count;) {
    const std::uint64_t group = (column + at) / group_size, end = (group + 1) * group_size - column;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, end)) - at;
    visit(at, part, static_cast<std::size_t>(group));
    at += part;
  }
}

// The first columns of a row, for `explain`: those of the first group, or a few columns if there is an index.
struct FirstGroup {
  std::uint64_t weights = 0, groups = 1;  // number of columns, and of groups (from the first on) whose scales they need
  const GroupIndex* index = nullptr;
  // The value of each column's group; `of_groups` itself if there is no index.
  std::vector<double> spread(const std::vector<double>& of_groups) const;
};
FirstGroup first_group(const GroupOrder& order, std::uint64_t columns, std::uint64_t group_size);

// Computes scale * (code - zero) for codes of one row. `column` is that of the first code, counted from the first group
// in `scales` and `zeros`.
void scale_groups(std::span<const std::uint8_t> codes, std::uint64_t column, std::uint64_t group_size,
                  const GroupIndex* index, const float* scales, const float* zeros, float* out);

}  // namespace tare::codec::packs
