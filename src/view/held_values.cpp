#include "view/held_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/json_stream.hpp"
#include "view/heat.hpp"
#include "view/page.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kCornerRows = 8, kCornerValues = 128;  // per corner
constexpr std::uint16_t kNothingRead = 0xFFFF, kNoNumber = 0x7E00;

// Whether every element is exactly an f32.
bool fits_single(const Reading& reading) { return reading.is_single() || size_of(reading.dtype()) <= 2; }

// The value rounded to three significant digits. Rounding its f16 to three digits gives the same number.
double in_three_digits(double value) {
  const double size = std::abs(value);
  if (!(size > 1e-290 && size < 1e290)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(size)) - 2);
  return std::round(value / unit) * unit;
}

// Appends the values of the last read. 64-bit integers are stored unchanged, because no float type holds them all.
void pack(Bytes& bytes, const Reading& reading, std::span<const double> values) {
  if (reading.is_wide_integer()) {
    bytes.insert(bytes.end(), reading.bytes().begin(), reading.bytes().end());
    return;
  }
  const bool single = fits_single(reading);
  std::size_t at = bytes.size();
  bytes.resize(at + values.size() * (single ? 4 : 8));
  for (const double value : values) {
    if (single)
      store_le(bytes.data() + at, static_cast<float>(value));
    else
      store_le(bytes.data() + at, value);
    at += single ? 4 : 8;
  }
}

void write_facts(JsonWriter& json, const Tensor& tensor, const Reading& reading) {
  json.open('{').key("shape").open('[');
  for (const std::uint64_t dimension : tensor.shape) json.number(dimension);
  json.close(']').key("rows").number(reading.rows()).key("columns").number(reading.columns());
  json.key("type").text(reading.is_wide_integer() ? (reading.dtype() == DType::i64 ? "i64" : "u64")
                        : fits_single(reading)    ? "f32"
                                                  : "f64");
}

}  // namespace

std::string grid_json(const Tensor& tensor, std::size_t height, std::size_t width, std::uint64_t sample,
                      std::uint64_t& cost) {
  const HeatMap map = heat_map(tensor, {}, height, width, Reduce::largest, sample);
  cost += map.cost;
  double most = 0;
  for (const double cell : map.cells)
    if (std::isfinite(cell)) most = std::max(most, std::abs(cell));
  // f16 has three digits down to a billionth of its largest number, so the exponent places `most` near the largest.
  constexpr int kNearLargest = 14;
  int exponent = 0;
  std::frexp(most, &exponent);
  exponent -= kNearLargest;
  Bytes bytes(map.cells.size() * 2);
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const double cell = std::ldexp(in_three_digits(map.cells[i]), -exponent);
    store_le(bytes.data() + i * 2, !map.seen[i] ? kNothingRead : std::isnan(cell) ? kNoNumber : f64_to_f16(cell));
  }
  std::string text;
  JsonWriter json(text);
  json.open('{').key("rows").number(map.rows).key("columns").number(map.columns);
  json.key("height").number(std::uint64_t{map.height}).key("width").number(std::uint64_t{map.width});
  json.key("exact").boolean(map.exact).key("exponent").number(std::int64_t{exponent});
  json.key("cells").text(base64(bytes)).close('}');
  return text;
}

std::string whole_json(const Tensor& tensor) {
  Reading reading(tensor);
  std::vector<double> values(reading.elements());
  Bytes bytes;
  if (reading.read(0, values)) pack(bytes, reading, values);  // a small tensor never exceeds the budget
  std::string text;
  JsonWriter json(text);
  write_facts(json, tensor, reading);
  json.key("values").text(base64(bytes)).close('}');
  return text;
}

std::string corners_json(const Tensor& tensor) {
  Reading reading(tensor);
  const std::uint64_t rows = reading.rows(), columns = reading.columns();
  const std::uint64_t height = std::min(rows, kCornerRows);
  const std::uint64_t width = height == 0 ? 0 : std::min(columns, kCornerValues / height);
  std::string text;
  JsonWriter json(text);
  write_facts(json, tensor, reading);
  json.key("blocks").open('[');
  std::vector<double> values(static_cast<std::size_t>(width));
  Bytes bytes;
  bool within = height > 0 && width > 0;
  for (const std::uint64_t top : {std::uint64_t{0}, rows - height}) {
    for (const std::uint64_t left : {std::uint64_t{0}, columns - width}) {
      bytes.clear();
      for (std::uint64_t y = 0; y < height && within; ++y) {
        within = reading.read((top + y) * columns + left, values);
        if (within) pack(bytes, reading, values);
      }
      if (within) {
        json.open('{').key("top").number(top).key("left").number(left).key("height").number(height);
        json.key("width").number(width).key("values").text(base64(bytes)).close('}');
      }
      if (columns == width) break;
    }
    if (rows == height) break;
  }
  json.close(']').close('}');
  return text;
}

std::uint64_t whole_size(const Tensor& tensor) {
  const Reading reading(tensor);
  const std::uint64_t most = UINT64_MAX / 32;
  return std::min(reading.elements(), most) * (fits_single(reading) ? 4 : 8) * 4 / 3 + 200;
}

}  // namespace tare::view
