#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/endian.hpp"
#include "base/splitmix64.hpp"
#include "run/plan.hpp"

namespace tare::run {
namespace {

// Adds or subtracts one step in each block, by random signs, so that the size of the noise is exact. Equal names and rows
// give equal noise.
void add_noise(float size, std::string_view name, std::uint64_t first_row, std::uint64_t columns,
               std::span<float> rows) {
  const auto width = static_cast<std::size_t>(columns);
  std::uint64_t seed = 0;
  for (const char c : name) seed = SplitMix64::mixed(seed ^ static_cast<unsigned char>(c)) + SplitMix64::kStep;
  for (std::size_t r = 0; r * width < rows.size(); ++r)
    for (std::size_t begin = 0; begin < width; begin += kNoiseBlock) {
      const std::span<float> block = rows.subspan(r * width + begin, std::min(kNoiseBlock, width - begin));
      double sum = 0;
      for (const float value : block) sum += static_cast<double>(value) * static_cast<double>(value);
      const auto step =
          static_cast<float>(std::sqrt(static_cast<double>(size) * sum / static_cast<double>(block.size())));
      std::uint64_t signs = SplitMix64::mixed(seed + (first_row + r) * columns + begin);
      for (float& value : block) value += (signs & 1) != 0 ? step : -step, signs >>= 1;
    }
}

}  // namespace

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
  if (noise != 0) add_noise(noise, tensor.name, first_row + first, columns, floats);
}

std::vector<float> Weight::values(const std::string& place) const {
  std::vector<float> all(static_cast<std::size_t>(rows * columns));
  if (rows != 0) read(0, rows, all.data(), place);
  return all;
}

}  // namespace tare::run
