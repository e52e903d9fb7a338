// Parts of a dense tensor in NumPy's syntax; reads only the bytes they need.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tare/export.hpp"
#include "tare/model.hpp"

namespace tare {

// One entry of "1:10:2, -1, ..., :".
struct SliceItem {
  enum class Kind : std::uint8_t { index, range, ellipsis, new_axis } kind = Kind::range;
  std::optional<std::int64_t> start, stop, step;  // index: only start
};

using SliceSpec = std::vector<SliceItem>;

// Throws Error usage `slice.syntax` with the position.
[[nodiscard]] TARE_API SliceSpec parse_slice(std::string_view text);

// The part of `dense_tensor` that NumPy would return, as a lazy dense tensor. Negative indices and steps count from the
// end as in NumPy. Throws usage `slice.rank`, `slice.index`, `slice.step`.
[[nodiscard]] TARE_API Tensor slice(const Tensor& dense_tensor, const SliceSpec& spec);

}  // namespace tare
