#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/endian.hpp"
#include "run/plan.hpp"

namespace tare::run {

void Weight::read(std::uint64_t first, std::uint64_t count, float* out, const std::string& place) const {
  const std::span<float> floats(out, static_cast<std::size_t>(count * columns));
  const auto bytes = std::as_writable_bytes(floats);
  numbers.component("data")->blob.read((first_row + first) * columns * sizeof(float), bytes);
  if constexpr (!kLittleEndianHost) swap_elements(bytes, sizeof(float));
  if (!all_finite(out, floats.size())) {
    const auto found = std::ranges::find_if(floats, [](float value) { return !std::isfinite(value); });
    const auto element = (first_row + first) * columns + static_cast<std::uint64_t>(found - floats.begin());
    Error error(ErrorKind::corrupt, "run.not_finite",
                fmt::format("element {} is {}; it is used in {}, from where on every result would be NaN", element,
                            *found, place));
    if (!tensor.components.empty() && tensor.components.front().blob.source() != nullptr)
      error.in(tensor.components.front().blob.source()->name());
    throw error.about(tensor.name).blame(Subject::input);
  }
  if (added != 0)
    for (float& value : floats) value += added;
}

std::vector<float> Weight::values(const std::string& place) const {
  std::vector<float> all(static_cast<std::size_t>(rows * columns));
  if (rows != 0) read(0, rows, all.data(), place);
  return all;
}

}  // namespace tare::run
