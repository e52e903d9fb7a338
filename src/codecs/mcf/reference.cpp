#include "codecs/mcf/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"

namespace tare::codec::mcf {
namespace {

float load_f16(const std::byte* at) { return f16_to_f32(load_le<std::uint16_t>(at)); }

bool is_raw(const RowSpan& rows) { return rows.method->family == Family::raw; }

// The code of a column of one row. Blocks are whole bytes, so the codes of a row have no gaps.
int code_of(const RowSpan& row, std::uint64_t column) {
  return code_at(row.method->bits, row.codes, column + (row.odd_start ? 1 : 0));
}

float absmax(std::span<const float> values) {
  float most = 0;
  for (const float v : values) most = std::max(most, std::fabs(v));
  return most;
}

int round_clamped(float value, int least, int most) {
  return static_cast<int>(std::clamp(std::rint(value), static_cast<float>(least), static_cast<float>(most)));
}

void put_block(const Method& method, std::span<const float> block, float scale, std::byte* codes) {
  if (scale == 0) return;
  const float inverse = 1 / scale;
  for (std::size_t i = 0; i < block.size(); ++i)
    put_code(method.bits, codes, i, round_clamped(block[i] * inverse, -method.qmax, method.qmax));
}

// The columns of block `index`; a row's last block may be short.
std::span<const float> block_of(std::span<const float> row, std::uint64_t index) {
  const auto begin = index * kBlock;
  return row.subspan(begin, std::min<std::size_t>(kBlock, row.size() - begin));
}

std::optional<std::uint64_t> encode_blocks(const Method& method, std::span<const float> row, const RowTarget& target) {
  for (std::uint64_t b = 0; b * kBlock < row.size(); ++b) {
    const auto block = block_of(row, b);
    const std::uint16_t bits = round_scale(absmax(block) / static_cast<float>(method.qmax));
    const float scale = f16_to_f32(bits);
    if (!std::isfinite(scale)) return b;
    store_le<std::uint16_t>(target.scales + 2 * b, bits);
    put_block(method, block, scale, target.codes + b * method.block_bytes());
  }
  return std::nullopt;
}

std::optional<std::uint64_t> encode_supers(const Method& method, std::span<const float> row, const RowTarget& target) {
  const std::uint64_t blocks = ceil_div(row.size(), kBlock);
  for (std::uint64_t first = 0; first < blocks; first += kBlocksInSuper) {
    const std::uint64_t end = std::min(blocks, first + kBlocksInSuper);
    float largest = 0;
    for (std::uint64_t b = first; b < end; ++b)
      largest = std::max(largest, absmax(block_of(row, b)) / static_cast<float>(method.qmax));
    const std::uint16_t bits = round_scale(largest);
    const float super_scale = f16_to_f32(bits);
    if (!std::isfinite(super_scale)) return first / kBlocksInSuper;
    store_le<std::uint16_t>(target.scales + 2 * (first / kBlocksInSuper), bits);
    for (std::uint64_t b = first; b < end; ++b) {
      const float s = absmax(block_of(row, b)) / static_cast<float>(method.qmax);
      const int u = s == 0 ? 0 : round_clamped((32 * s) / super_scale, 1, 63);
      target.sub_scales[b] = static_cast<std::byte>(u);
      put_block(method, block_of(row, b), super_scale * (static_cast<float>(u) / 32),
                target.codes + b * method.block_bytes());
    }
  }
  return std::nullopt;
}

}  // namespace

RowSpan rows_of(const Geometry& geometry, const std::byte* payload, std::uint64_t first, std::uint64_t count) {
  RowSpan rows;
  rows.method = geometry.method;
  rows.rows = count;
  rows.columns = geometry.columns;
  if (is_raw(rows)) {
    rows.scale = load_le<float>(payload + geometry.scales.offset);
    if (geometry.domain == Domain::activations) rows.zero = load_le<float>(payload + geometry.zero.offset);
    const std::uint64_t element = first * geometry.columns;
    rows.codes = payload + geometry.codes.offset + (geometry.method->bits == 8 ? element : element / 2);
    rows.odd_start = geometry.method->bits == 4 && element % 2 != 0;
    return rows;
  }
  const bool super = geometry.method->family == Family::super;
  rows.scales = payload + geometry.scales.offset + 2 * first * (super ? geometry.supers : geometry.blocks);
  if (super) rows.sub_scales = payload + geometry.sub_scales.offset + first * geometry.blocks;
  rows.codes = payload + geometry.codes.offset + first * geometry.row_code_bytes();
  return rows;
}

RowSpan row_of(const RowSpan& rows, std::uint64_t index) {
  RowSpan row = rows;
  row.rows = 1;
  if (is_raw(rows)) {
    const std::uint64_t element = index * rows.columns + (rows.odd_start ? 1 : 0);
    row.codes = rows.codes + (rows.method->bits == 8 ? element : element / 2);
    row.odd_start = rows.method->bits == 4 && element % 2 != 0;
    return row;
  }
  const bool super = rows.method->family == Family::super;
  row.scales = rows.scales + 2 * index * (super ? rows.supers() : rows.blocks());
  if (super) row.sub_scales = rows.sub_scales + index * rows.blocks();
  row.codes = rows.codes + index * rows.blocks() * rows.method->block_bytes();
  return row;
}

int code_at(unsigned bits, const std::byte* codes, std::uint64_t index) {
  const std::uint64_t at = index * bits;
  const unsigned shift = at % 8;
  unsigned raw = std::to_integer<unsigned>(codes[at / 8]) >> shift;
  if (shift + bits > 8) raw |= std::to_integer<unsigned>(codes[at / 8 + 1]) << (8 - shift);
  const int half = 1 << (bits - 1);
  return static_cast<int>((raw & ((1u << bits) - 1)) ^ static_cast<unsigned>(half)) - half;
}

void put_code(unsigned bits, std::byte* codes, std::uint64_t index, int code) {
  const std::uint64_t at = index * bits;
  const unsigned shift = at % 8;
  const unsigned raw = static_cast<unsigned>(code) & ((1u << bits) - 1);
  codes[at / 8] |= static_cast<std::byte>(raw << shift);
  if (shift + bits > 8) codes[at / 8 + 1] |= static_cast<std::byte>(raw >> (8 - shift));
}

float block_scale(const RowSpan& row, std::uint64_t block) {
  if (row.method->family == Family::block) return load_f16(row.scales + 2 * block);
  const auto u = std::to_integer<unsigned>(row.sub_scales[block]);
  return load_f16(row.scales + 2 * (block / kBlocksInSuper)) * (static_cast<float>(u) / 32);
}

void reference_decode(const RowSpan& rows, std::span<float> out) {
  for (std::uint64_t r = 0; r < rows.rows; ++r) {
    const RowSpan row = row_of(rows, r);
    for (std::uint64_t column = 0; column < rows.columns; ++column) {
      const auto q = static_cast<float>(code_of(row, column));
      out[r * rows.columns + column] =
          is_raw(rows) ? rows.scale * (q - rows.zero) : block_scale(row, column / kBlock) * q;
    }
  }
}

double reference_dot(const RowSpan& row, std::span<const float> vector) {
  double sum = 0;
  std::vector<float> weights(vector.size());
  reference_decode(row, weights);
  for (std::size_t i = 0; i < vector.size(); ++i) sum += static_cast<double>(weights[i]) * vector[i];
  return sum;
}

double reference_dot(const RowSpan& row, const Vector& vector) {
  double sum = 0;
  for (std::uint64_t b = 0; b < vector.blocks(); ++b) {
    std::int32_t products = 0, codes = 0;
    const std::uint64_t end = std::min(vector.columns, (b + 1) * kBlock);
    for (std::uint64_t column = b * kBlock; column < end; ++column) {
      products += code_of(row, column) * vector.codes[column];
      codes += vector.codes[column];
    }
    const float d = vector.scales[b];
    if (is_raw(row))
      sum += static_cast<double>(row.scale) * d * (products - static_cast<double>(row.zero) * codes);
    else
      sum += static_cast<double>(block_scale(row, b) * d) * products;
  }
  return sum;
}

std::uint16_t round_scale(float scale) {
  std::uint16_t bits = f32_to_f16(scale);
  // Adding 1 to the bits gives the next number, also from subnormal to normal ones.
  if (scale < 0x1p-14f && f16_to_f32(bits) < scale) ++bits;
  return bits;
}

std::optional<std::uint64_t> reference_encode_row(const Method& method, std::span<const float> row,
                                                  const RowTarget& target) {
  std::memset(target.codes, 0, ceil_div(row.size(), kBlock) * method.block_bytes());
  return method.family == Family::block ? encode_blocks(method, row, target) : encode_supers(method, row, target);
}

// Returns the scale, or the largest smaller one for which `reach` steps from zero are finite.
static float bounded_scale(float scale, float reach) {
  if (std::isfinite(scale * reach)) return scale;
  scale = std::numeric_limits<float>::max() / reach;
  return std::isfinite(scale * reach) ? scale : std::nextafter(scale, 0.0f);
}

ScaleZero scale_zero(const Method& method, Domain domain, float min, float max) {
  const auto qmax = static_cast<float>(method.qmax);
  if (domain == Domain::weights) return {bounded_scale(std::max(std::fabs(min), std::fabs(max)) / qmax, qmax), 0};
  const double low = std::min(min, 0.0f), high = std::max(max, 0.0f);
  const auto scale = static_cast<float>((high - low) / ((1u << method.bits) - 1));
  if (scale == 0) return {};
  const double least = -method.qmax - 1;
  const auto zero = static_cast<float>(std::clamp(std::rint(least - low / scale), least, static_cast<double>(qmax)));
  return {bounded_scale(scale, std::max(zero - static_cast<float>(least), qmax - zero)), zero};
}

void reference_encode_raw(const Method& method, Domain domain, const ScaleZero& parameters,
                          std::span<const float> values, std::byte* codes, std::uint64_t first) {
  if (parameters.scale == 0) {
    // All values are zero: their code is Z, which is 0 in this case.
    return;
  }
  const int least = domain == Domain::weights ? -method.qmax : -method.qmax - 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float code = std::rint(values[i] / parameters.scale) + parameters.zero;
    put_code(method.bits, codes, first + i, round_clamped(code, least, method.qmax));
  }
}

}  // namespace tare::codec::mcf
