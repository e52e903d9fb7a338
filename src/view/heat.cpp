#include "view/heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "view/endpoints.hpp"
#include "view/reading.hpp"

namespace tare::view {
namespace {

class Reducer {
 public:
  void take(double value, Reduce reduce) {
    seen_ = true;
    nan_ = nan_ || std::isnan(value);
    if (nan_) return;
    if (count_ == 0 || (reduce == Reduce::largest && std::abs(value) > std::abs(value_)))
      value_ = value;
    else if (reduce == Reduce::mean)
      add(value);
    ++count_;
  }
  bool seen() const { return seen_; }
  // NaN if any element is NaN, so that a single NaN is visible.
  double result(Reduce reduce) const {
    if (nan_ || count_ == 0) return std::numeric_limits<double>::quiet_NaN();
    return reduce == Reduce::mean ? std::ldexp(value_ / static_cast<double>(count_), shift_) : value_;
  }

 private:
  // A sum of finite numbers may overflow although their mean does not.
  void add(double value) {
    const double sum = value_ + (shift_ == 0 ? value : std::ldexp(value, -shift_));
    if (shift_ == 0 && std::isinf(sum) && std::isfinite(value_) && std::isfinite(value)) {
      shift_ = 64;
      value_ = std::ldexp(value_, -shift_) + std::ldexp(value, -shift_);
    } else {
      value_ = sum;
    }
  }

  double value_ = 0;
  std::uint64_t count_ = 0;
  int shift_ = 0;
  bool seen_ = false, nan_ = false;
};

// The index at which cell `i` of `cells` begins in a run of `size`.
std::uint64_t edge(std::uint64_t size, std::uint64_t cells, std::uint64_t i) {
  return size / cells * i + size % cells * i / cells;
}

// Which elements are read for a map: of `depth` rows per cell, `together` at a time, all columns or `columns` each.
struct Sampling {
  bool whole_rows = true;
  std::uint64_t together = 1, depth = 1, columns = 0;
};

constexpr std::uint64_t kReadCost = 64;  // a read costs as much as this many elements

// Rows that follow each other are read together, and the number of reads is limited: for short rows, a read costs far
// more than its elements.
Sampling sampling_of(const HeatMap& map, std::uint64_t columns, Reduce reduce, std::uint64_t sample) {
  constexpr std::uint64_t kTogether = 4096, kMostReads = std::uint64_t{1} << 15;
  Sampling how;
  how.columns = std::max<std::uint64_t>(1, sample / (map.height * map.width));
  how.whole_rows = columns + kReadCost <= map.width * (how.columns + kReadCost);
  if (!how.whole_rows) return how;
  if (columns == map.columns) how.together = std::max<std::uint64_t>(1, kTogether / columns);
  if (reduce != Reduce::sample)
    how.depth =
        std::max<std::uint64_t>(1, std::min(sample / (map.height * columns), how.together * (kMostReads / map.height)));
  return how;
}

}  // namespace

HeatMap heat_map(const Tensor& tensor, Region region, std::size_t most_height, std::size_t most_width, Reduce reduce,
                 std::uint64_t sample) {
  Reading reading(tensor);
  HeatMap map;
  map.rows = reading.rows(), map.columns = reading.columns();
  map.is_single = reading.is_single();
  region.last_row = std::min(region.last_row, map.rows), region.last_column = std::min(region.last_column, map.columns);
  region.first_row = std::min(region.first_row, region.last_row);
  region.first_column = std::min(region.first_column, region.last_column);
  map.region = region;
  const std::uint64_t rows = region.last_row - region.first_row, columns = region.last_column - region.first_column;
  map.height = static_cast<std::size_t>(std::min<std::uint64_t>(rows, most_height));
  map.width = static_cast<std::size_t>(std::min<std::uint64_t>(columns, most_width));
  if (map.height == 0 || map.width == 0) return map;

  const auto [whole_rows, together, depth, wide] = sampling_of(map, columns, reduce, sample);
  std::vector<double> values(whole_rows ? together * columns : wide);
  map.exact = whole_rows && depth * map.height >= rows && (reduce != Reduce::sample || columns == map.width);
  map.cells.reserve(map.height * map.width);
  std::vector<Reducer> line(map.width);
  const auto take_row = [&](std::span<const double> row) {
    for (std::size_t x = 0; x < map.width; ++x) {
      const std::uint64_t left = edge(columns, map.width, x), right = edge(columns, map.width, x + 1);
      if (reduce == Reduce::sample)
        line[x].take(row[(left + right) / 2], reduce);
      else
        for (std::uint64_t c = left; c < right; ++c) line[x].take(row[c], reduce);
    }
  };
  bool within = true;
  std::uint64_t reads = 0;
  for (std::size_t y = 0; y < map.height; ++y) {
    std::fill(line.begin(), line.end(), Reducer());
    const std::uint64_t top = edge(rows, map.height, y), bottom = edge(rows, map.height, y + 1);
    const std::uint64_t looks = std::min(depth, bottom - top);
    const std::uint64_t batch = std::min(together, looks);
    for (std::uint64_t look = 0; look < looks && within; look += batch) {
      const std::uint64_t row = region.first_row + top + (bottom - top) * look / looks;
      const std::uint64_t start = row * map.columns + region.first_column;
      if (whole_rows) {
        const std::uint64_t count = std::min(batch, looks - look);
        const auto read = std::span(values).first(count * columns);
        within = reading.read(start, read);
        ++reads;
        for (std::uint64_t i = 0; i < count && within; ++i)
          take_row(read.subspan(i * columns, static_cast<std::size_t>(columns)));
      } else {
        for (std::size_t x = 0; x < map.width && within; ++x) {
          const std::uint64_t left = edge(columns, map.width, x), right = edge(columns, map.width, x + 1);
          const auto part =
              std::span(values).first(static_cast<std::size_t>(std::min<std::uint64_t>(values.size(), right - left)));
          within = reading.read(start + left, part);
          ++reads;
          if (!within) break;
          for (const double value : part.first(reduce == Reduce::sample ? 1 : part.size())) line[x].take(value, reduce);
        }
      }
    }
    for (const Reducer& cell : line) {
      map.cells.push_back(cell.result(reduce));
      map.seen.push_back(cell.seen());
    }
  }
  map.exact = map.exact && within;
  if (map.exact && rows == map.rows && columns == map.columns) reading.check_digests();
  map.read = reading.bytes_read();
  map.cost = map.read / size_of(reading.dtype()) + reads * kReadCost;
  return map;
}

void heat(const Context& context, const Query& query, JsonWriter& json) {
  static constexpr std::string_view kWays[] = {"max", "mean", "sample"};
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  const std::string_view by = query.choice("by", kWays);
  const Reduce reduce = by == "max" ? Reduce::largest : by == "mean" ? Reduce::mean : Reduce::sample;
  const Region region{query.number("top", 0, 0, kEnd), query.number("bottom", kEnd, 0, kEnd),
                      query.number("left", 0, 0, kEnd), query.number("right", kEnd, 0, kEnd)};
  const HeatMap map = heat_map(subject_of(context, query), region, query.number("height", 128, 1, kMostCells),
                               query.number("width", 128, 1, kMostCells), reduce);
  json.open('{').key("rows").number(map.rows).key("columns").number(map.columns);
  json.key("top").number(map.region.first_row).key("bottom").number(map.region.last_row);
  json.key("left").number(map.region.first_column).key("right").number(map.region.last_column);
  json.key("height").number(std::uint64_t{map.height}).key("width").number(std::uint64_t{map.width});
  json.key("by").text(by).key("exact").boolean(map.exact).key("cells").open('[');
  // Single elements are written exactly; reduced cells with as many digits as a picture needs.
  const bool single = map.height * map.width ==
                      (map.region.last_row - map.region.first_row) * (map.region.last_column - map.region.first_column);
  const auto digits = static_cast<int>(query.number("digits", 6, 1, 6));
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    if (!map.seen[i])
      json.null();
    else if (single || !std::isfinite(map.cells[i]))
      write_element(json, map.cells[i], map.is_single);
    else
      json.raw(fmt::format("{:.{}g}", map.cells[i], digits));
  }
  json.close(']').key("read").number(map.read).close('}');
}

}  // namespace tare::view
