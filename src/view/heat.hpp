// A tensor as a picture: a matrix, or a part of it, reduced to so many cells.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::view {

struct Region {
  std::uint64_t first_row = 0, last_row = UINT64_MAX, first_column = 0, last_column = UINT64_MAX;  // last: not included
};

struct HeatMap {
  Region region;                        // what was asked for, inside the matrix
  std::uint64_t rows = 0, columns = 0;  // of the whole matrix
  std::size_t height = 0, width = 0;    // cells
  std::vector<double> cells;            // row after row; NaN if one of the elements is
  std::vector<bool> seen;               // of each cell, whether anything was read
  bool is_single = false;               // the elements are numbers of f32
  bool exact = true;                    // every element was looked at
  std::uint64_t read = 0;               // bytes
};

inline constexpr std::size_t kMostCells = 256;  // in a row, in a column

enum class Reduce : std::uint8_t {
  largest,  // the element of the largest magnitude, with its sign
  mean,
  sample,  // one element
};

// Cells of equal size, but for rounding; of a small region one for each element. Where a region has too many elements, some
// rows of each cell are looked at.
HeatMap heat_map(const Tensor& tensor, Region region, std::size_t most_height, std::size_t most_width, Reduce reduce);

}  // namespace tare::view
