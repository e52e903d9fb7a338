#include "codecs/quantized_vector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/checked.hpp"

namespace tare {
namespace {

using Data = QuantizedVector::Data;

// Splits the codes into `count` planes. Offsets are `factor` times the sum of the codes for 4 bytes of a row.
void split(const AlignedVector<std::int8_t>& codes, std::size_t count, std::int32_t factor, Data::Planes& planes) {
  for (std::size_t j = 0; count > 1 && j < count; ++j) {
    planes.codes[j].resize(codes.size() / count);
    for (std::size_t i = 0; i < planes.codes[j].size(); ++i) planes.codes[j][i] = codes[i * count + j];
  }
  planes.offsets.resize(codes.size() / (4 * count));
  for (std::size_t i = 0; i < planes.offsets.size(); ++i)
    planes.offsets[i] = factor * std::accumulate(&codes[i * 4 * count], &codes[i * 4 * count] + 4 * count, 0);
}

}  // namespace

void add_sums(Data& vector) {
  const auto& quads = vector.ones.offsets;  // -128 times the sums of 4 codes
  vector.half_sums.resize(quads.size() / 4);
  vector.half_scales.resize(quads.size() / 4);
  vector.sums.resize(quads.size() / 8);
  for (std::size_t i = 0; i < vector.half_sums.size(); ++i) {
    const std::int32_t sum = (quads[4 * i] + quads[4 * i + 1] + quads[4 * i + 2] + quads[4 * i + 3]) / -128;
    vector.half_scales[i] = vector.scales[i / 2];
    vector.half_sums[i] = vector.scales[i / 2] * static_cast<float>(sum);
  }
  for (std::size_t i = 0; i < vector.sums.size(); ++i)
    vector.sums[i] = vector.half_sums[2 * i] + vector.half_sums[2 * i + 1];
}

Data reference_vector(std::span<const float> vector) {
  Data result;
  result.columns = vector.size();
  const std::size_t padded = ceil_div(vector.size(), Data::kPadding) * Data::kPadding;
  result.codes.resize(padded);
  result.scales.resize(padded / Data::kBlock);
  for (std::size_t b = 0; b < result.blocks(); ++b) {
    const auto rest = vector.subspan(b * Data::kBlock);
    const auto block = rest.first(std::min<std::size_t>(Data::kBlock, rest.size()));
    float& d = result.scales[b];
    if (!std::all_of(block.begin(), block.end(), [](float x) { return std::isfinite(x); })) {
      d = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    for (const float x : block) d = std::max(d, std::fabs(x));
    d /= 127;
    if (d == 0) continue;
    for (std::size_t i = 0; i < block.size(); ++i)
      result.codes[b * Data::kBlock + i] =
          static_cast<std::int8_t>(std::clamp(std::nearbyint(block[i] / d), -127.0F, 127.0F));
  }
  split(result.codes, 1, -128, result.ones);
  split(result.codes, 2, -8, result.twos);
  split(result.codes, 4, -2, result.fours);
  for (std::size_t b = 0; b < result.scales.size(); ++b) {
    const std::int8_t* const block = &result.codes[b * Data::kBlock];
    result.total += static_cast<double>(result.scales[b]) * std::accumulate(block, block + Data::kBlock, 0);
  }
  add_sums(result);
  return result;
}

QuantizedVector::QuantizedVector(std::span<const float> values) : data_(new Data(quantized(values))) {}
QuantizedVector::~QuantizedVector() = default;
QuantizedVector::QuantizedVector(QuantizedVector&&) noexcept = default;
QuantizedVector& QuantizedVector::operator=(QuantizedVector&&) noexcept = default;
std::uint64_t QuantizedVector::size() const { return data_->columns; }

}  // namespace tare
