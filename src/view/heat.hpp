// A tensor as a picture: a matrix, or a part of it, reduced to a grid of cells.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::view {

struct Region {
  std::uint64_t first_row = 0, last_row = UINT64_MAX, first_column = 0, last_column = UINT64_MAX;  // last_*: exclusive
};

struct HeatMap {
  Region region;                        // the requested region, clipped to the matrix
  std::uint64_t rows = 0, columns = 0;  // size of the whole matrix
  std::size_t height = 0, width = 0;    // cells
  std::vector<double> cells;            // row by row; NaN if any element of the cell is NaN
  std::vector<bool> seen;               // per cell, whether any element was read
  bool is_single = false;               // every element is exactly an f32
  bool exact = true;                    // every element was read
  std::uint64_t read = 0;               // bytes that were read
  std::uint64_t cost = 0;               // what reading cost, in elements: each read counts as several
};

inline constexpr std::size_t kMostCells = 256;  // per row and per column

enum class Reduce : std::uint8_t {
  largest,  // the element of the largest magnitude, with its sign
  mean,
  sample,  // one element
};

// Cells have equal size up to rounding; a small region has one cell per element. If a region has too many elements,
// only some rows of each cell are read: about `sample` elements.
inline constexpr std::uint64_t kHeatSample = std::uint64_t{2} << 20;
HeatMap heat_map(const Tensor& tensor, Region region, std::size_t most_height, std::size_t most_width, Reduce reduce,
                 std::uint64_t sample = kHeatSample);

}  // namespace tare::view
