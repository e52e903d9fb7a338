// A treemap of the tensors by size in bytes: rectangles for the page and for pictures.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "view/open_model.hpp"

namespace tare::view {

struct Tile {
  double x = 0, y = 0, width = 0, height = 0;
  unsigned depth = 0;
  std::string label, prefix;
  std::int64_t tensor = -1;  // -1: a group
  std::int64_t type = -1;    // -1: several
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
  bool opened = false;  // its contents follow
};

inline constexpr std::size_t kMostTiles = 2000;

// The tiles of everything below `prefix`, in an area of width x height. A group precedes its contents. Groups of about
// the same size are all opened, or none of them.
std::vector<Tile> lay_out(const OpenModel& model, std::string_view prefix, double width, double height);

}  // namespace tare::view
