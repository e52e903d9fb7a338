// Converts an array in memory from Fortran order to C order: the axes stay, and the last one becomes the fastest.
//
// The first axes are contiguous in the source, the last ones in the result. A tile has a run of both, so each cache
// line is read and written about once, whatever the rank; the axes between them only determine where the tiles are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/npy/columns.hpp"

namespace tare::npy {

inline constexpr std::uint64_t kTileSide = 64;

// Positions in the result of the items of some neighbouring axes. The first of these axes is the fastest in the source.
class Group {
 public:
  Group(std::span<const std::uint64_t> axes, std::uint64_t stride) {
    if (axes.size() == 1) {  // avoids a table as large as the array
      size_ = axes[0];
      stride_ = stride;
      return;
    }
    offsets_.push_back(0);
    std::vector<std::uint64_t> strides(axes.size());
    for (std::size_t i = axes.size(); i-- > 0; stride *= axes[i]) strides[i] = stride;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::size_t count = offsets_.size();
      offsets_.reserve(count * static_cast<std::size_t>(axes[i]));
      for (std::uint64_t step = 1; step < axes[i]; ++step)
        for (std::size_t k = 0; k < count; ++k) offsets_.push_back(offsets_[k] + step * strides[i]);
    }
  }
  std::uint64_t size() const { return size_ != 0 ? size_ : offsets_.size(); }
  std::uint64_t operator[](std::uint64_t index) const { return size_ != 0 ? index * stride_ : offsets_[index]; }

 private:
  std::uint64_t size_ = 0, stride_ = 0;
  std::vector<std::uint64_t> offsets_;
};

// `axes`: two or more. Both spans hold as many items as the product of the axes.
template <typename Item>
void reverse_axes(std::span<const std::byte> in, std::span<const std::uint64_t> axes, std::span<std::byte> out) {
  // A group is one axis, or as many as fill a tile's side.
  std::size_t first = 1, last = axes.size() - 1;
  for (std::uint64_t n = axes[0]; first < last && n * axes[first] <= kTileSide; ++first) n *= axes[first];
  for (std::uint64_t n = axes[last]; last > first && n * axes[last - 1] <= kTileSide;) n *= axes[--last];
  std::uint64_t items_behind = 1;
  const Group ends(axes.subspan(last), 1);
  items_behind *= ends.size();
  const Group middle(axes.subspan(first, last - first), items_behind);
  items_behind *= middle.size();
  const Group fronts(axes.first(first), items_behind);

  // Distance in the source between two items of the last axes.
  const std::uint64_t step = fronts.size() * middle.size();
  const bool whole = axes.size() - last > 1;  // with several axes, every tile has all of them
  std::array<std::array<Item, kTileSide>, kTileSide> tile;
  for (std::uint64_t m = 0; m < middle.size(); ++m)
    for (std::uint64_t f = 0; f < fronts.size(); f += kTileSide)
      for (std::uint64_t e = 0; e < ends.size(); e += kTileSide) {
        const std::uint64_t height = std::min(kTileSide, fronts.size() - f),
                            width = std::min(kTileSide, ends.size() - e);
        for (std::uint64_t t = 0; t < width; ++t) {
          const std::byte* from = in.data() + (f + fronts.size() * m + step * (e + t)) * sizeof(Item);
          const std::uint64_t column = whole ? ends[t] : t;
          for (std::uint64_t i = 0; i < height; ++i) tile[i][column] = load<Item>(from + i * sizeof(Item));
        }
        for (std::uint64_t i = 0; i < height; ++i)
          std::memcpy(out.data() + (fronts[f + i] + middle[m] + e) * sizeof(Item), tile[i].data(),
                      width * sizeof(Item));
      }
}

}  // namespace tare::npy
