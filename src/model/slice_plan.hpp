// Which elements a slice selects: NumPy's indexing rules, independent of how bytes are read.
#pragma once

#include <cstdint>
#include <span>

#include "tare/slice.hpp"

namespace tare {

// An axis of the result with more than one element: `count` steps of `stride` elements of the sliced tensor.
struct SliceAxis {
  std::uint64_t count = 1;
  std::int64_t stride = 0;
};

struct SlicePlan {
  Shape shape;                       // shape of the result, including new axes
  std::uint64_t elements = 0;        // elements of the result
  std::uint64_t first = 0;           // index of the result's first element in the sliced tensor
  InlineVector<SliceAxis, 4> outer;  // slowest first; neighbours merged if possible
  SliceAxis lane;                    // the fastest axis of runs: `count` runs, `stride` apart
  std::uint64_t run = 1;             // contiguous elements per run
};

// Merges neighbouring axes with compatible strides, and uses the innermost ones as run and lane.
void arrange(SlicePlan& plan, std::span<const SliceAxis> axes);

// Throws usage `slice.rank`, `slice.index`, `slice.step`.
SlicePlan plan_slice(const Shape& shape, const SliceSpec& spec);

}  // namespace tare
