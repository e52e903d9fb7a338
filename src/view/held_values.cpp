#include "view/held_values.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/json_stream.hpp"
#include "inspect/moments.hpp"
#include "view/heat.hpp"
#include "view/page.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kCornerRows = 8, kCornerValues = 128;  // of one corner
constexpr std::uint16_t kNothingRead = 0xFFFF;

// Whether f32 holds every element.
bool fits_single(const Reading& reading) { return reading.is_single() || size_of(reading.dtype()) <= 2; }

std::string packed(std::span<const double> values, bool single) {
  Bytes bytes(values.size() * (single ? 4 : 8));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (single)
      store_le(bytes.data() + i * 4, static_cast<float>(values[i]));
    else
      store_le(bytes.data() + i * 8, values[i]);
  }
  return base64(bytes);
}

void write_facts(JsonWriter& json, const Tensor& tensor, const Reading& reading) {
  json.open('{').key("shape").open('[');
  for (const std::uint64_t dimension : tensor.shape) json.number(dimension);
  json.close(']').key("rows").number(reading.rows()).key("columns").number(reading.columns());
  json.key("type").text(fits_single(reading) ? "f32" : "f64");
}

}  // namespace

std::string grid_json(const Tensor& tensor, std::size_t height, std::size_t width) {
  const HeatMap map = heat_map(tensor, {}, height, width, Reduce::largest);
  double most = 0;
  for (const double cell : map.cells)
    if (std::isfinite(cell)) most = std::max(most, std::abs(cell));
  // bf16 has the exponents of f32, and f64 has more.
  const bool usual = most == 0 || (most > 0x1p-60 && most < 0x1p100);
  const int exponent = usual ? 0 : inspect::Scale::of(most, 0).exponent;
  Bytes bytes(map.cells.size() * 2);
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const double cell = exponent == 0 ? map.cells[i] : std::ldexp(map.cells[i], -exponent);
    store_le(bytes.data() + i * 2, map.seen[i] ? f64_to_bf16(cell) : kNothingRead);
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
  std::vector<double> values(static_cast<std::size_t>(reading.elements()));
  if (!reading.read(0, values)) values.clear();  // a small tensor never costs so much
  std::string text;
  JsonWriter json(text);
  write_facts(json, tensor, reading);
  json.key("values").text(packed(values, fits_single(reading))).close('}');
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
  std::vector<double> values(static_cast<std::size_t>(height * width));
  bool within = height > 0 && width > 0;
  for (const std::uint64_t top : {std::uint64_t{0}, rows - height}) {
    for (const std::uint64_t left : {std::uint64_t{0}, columns - width}) {
      for (std::uint64_t y = 0; y < height && within; ++y)
        within = reading.read((top + y) * columns + left, std::span(values).subspan(static_cast<std::size_t>(y * width),
                                                                                    static_cast<std::size_t>(width)));
      if (within) {
        json.open('{').key("top").number(top).key("left").number(left).key("height").number(height);
        json.key("width").number(width).key("values").text(packed(values, fits_single(reading))).close('}');
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
