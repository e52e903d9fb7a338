#include "view/treemap.hpp"

#include <algorithm>

#include "view/endpoints.hpp"
#include "view/names.hpp"

namespace tare::view {
namespace {

constexpr unsigned kMostDepth = 10;
constexpr double kHeading = 15, kEdge = 2;             // heading of a group; margin around its contents
constexpr double kLeastWidth = 40, kLeastHeight = 34;  // smallest group whose contents are shown
constexpr std::size_t kMostBranches = 400;             // per group; the rest becomes one tile

struct Area {
  double x, y, width, height;
};

struct Weighed {
  double weight;
  std::size_t index;
};

double worst_ratio(double smallest, double largest, double sum, double side) {
  const double thickness = sum / side;
  return std::max(largest / (thickness * thickness), thickness * thickness / smallest);
}

// Squarified treemap (Bruls, Huizing, van Wijk): lines of tiles along the shorter side, each extended as long as its
// tiles become more square. `weights`: areas, largest first, whose sum is that of `area`.
std::vector<Area> squarify(const std::vector<Weighed>& weights, Area area) {
  std::vector<Area> areas(weights.size());
  std::size_t first = 0;
  while (first < weights.size()) {
    const double side = std::max(1e-9, std::min(area.width, area.height));
    double sum = weights[first].weight;
    std::size_t end = first + 1;
    while (end < weights.size()) {
      const double next = sum + weights[end].weight;
      if (worst_ratio(weights[end].weight, weights[first].weight, next, side) >
          worst_ratio(weights[end - 1].weight, weights[first].weight, sum, side))
        break;
      sum = next;
      ++end;
    }
    const double thickness = sum / side;
    double along = 0;
    for (std::size_t i = first; i < end; ++i) {
      const double length = thickness > 0 ? weights[i].weight / thickness : 0;
      areas[i] = area.width >= area.height ? Area{area.x, area.y + along, thickness, length}
                                           : Area{area.x + along, area.y, length, thickness};
      along += length;
    }
    if (area.width >= area.height)
      area.x += thickness, area.width = std::max(0.0, area.width - thickness);
    else
      area.y += thickness, area.height = std::max(0.0, area.height - thickness);
    first = end;
  }
  return areas;
}

class Layout {
 public:
  explicit Layout(const OpenModel& model) : model_(model) {}

  void fill(std::string_view prefix, std::size_t begin, std::size_t end, Area area, unsigned depth) {
    std::vector<Branch> all = branches(model_, prefix, begin, end);
    std::erase_if(all, [](const Branch& branch) { return branch.bytes == 0; });
    std::stable_sort(all.begin(), all.end(), [](const Branch& a, const Branch& b) { return a.bytes > b.bytes; });
    std::uint64_t sum = 0;
    for (const Branch& branch : all) sum += branch.bytes;
    if (sum == 0 || area.width <= 0 || area.height <= 0) return;
    const std::size_t kept = std::min(all.size(), kMostBranches);
    const double unit = area.width * area.height / static_cast<double>(sum);
    std::vector<Weighed> weights;
    for (std::size_t i = 0; i < kept; ++i) weights.push_back({static_cast<double>(all[i].bytes) * unit, i});
    Branch rest;
    for (std::size_t i = kept; i < all.size(); ++i) {
      rest.bytes += all[i].bytes, rest.elements += all[i].elements;
      rest.end += all[i].end - all[i].begin;
    }
    if (rest.bytes > 0) weights.push_back({static_cast<double>(rest.bytes) * unit, kept});
    const std::vector<Area> areas = squarify(weights, area);
    // Breadth first, so that when the tiles run out, whole levels are complete.
    std::vector<std::size_t> to_open;
    const std::size_t base = tiles_.size();
    for (std::size_t i = 0; i < areas.size(); ++i) {
      const bool is_rest = i == kept;
      const Branch& branch = is_rest ? rest : all[i];
      Tile tile;
      tile.x = areas[i].x, tile.y = areas[i].y, tile.width = areas[i].width, tile.height = areas[i].height;
      tile.depth = depth;
      tile.label = is_rest ? "others" : short_name(branch.label, 100);
      tile.prefix = is_rest || branch.prefix.size() > kMostPrefix ? "" : branch.prefix;
      tile.tensor = branch.leaf ? static_cast<std::int64_t>(model_.by_name()[branch.begin]) : -1;
      tile.type = is_rest ? -1 : branch.type;
      tile.tensors = branch.end - branch.begin;
      tile.elements = branch.elements;
      tile.bytes = branch.bytes;
      if (!branch.leaf && !is_rest && depth + 1 < kMostDepth && tile.width >= kLeastWidth &&
          tile.height >= kLeastHeight)
        to_open.push_back(i);
      tiles_.push_back(std::move(tile));
    }
    for (const std::size_t i : to_open) {
      if (tiles_.size() + kMostBranches + 1 > kMostTiles) return;
      Tile& tile = tiles_[base + i];
      tile.opened = true;
      const Area inside{tile.x + kEdge, tile.y + kHeading, tile.width - 2 * kEdge, tile.height - kHeading - kEdge};
      fill(all[i].prefix, all[i].begin, all[i].end, inside, depth + 1);
    }
  }

  std::vector<Tile> take() { return std::move(tiles_); }

 private:
  const OpenModel& model_;
  std::vector<Tile> tiles_;
};

}  // namespace

std::vector<Tile> lay_out(const OpenModel& model, std::string_view prefix, double width, double height) {
  Layout layout(model);
  const auto [begin, end] = run_of(model, prefix);
  layout.fill(prefix, begin, end, {0, 0, width, height}, 0);
  return layout.take();
}

void treemap(const Context& context, const Query& query, JsonWriter& json) {
  const OpenModel& model = context.model(query);
  const auto width = static_cast<double>(query.number("width", 960, 64, 4096));
  const auto height = static_cast<double>(query.number("height", 480, 64, 4096));
  json.open('{').key("width").real(width).key("height").real(height).key("tiles").open('[');
  const auto coordinate = [&json](std::string_view name, double value) {
    json.key(name);
    write_drawn(json, value);
  };
  for (const Tile& tile : lay_out(model, query.text("under"), width, height)) {
    json.open('{');
    coordinate("x", tile.x), coordinate("y", tile.y);
    coordinate("width", tile.width), coordinate("height", tile.height);
    json.key("depth").number(std::uint64_t{tile.depth}).key("label").text(tile.label);
    json.key("under").text(tile.prefix).key("opened").boolean(tile.opened).key("tensor");
    if (tile.tensor < 0)
      json.null();
    else
      json.number(tile.tensor);
    json.key("type").text(tile.type < 0 ? std::string_view("mixed")
                                        : std::string_view(model.types()[static_cast<std::size_t>(tile.type)]));
    json.key("tensors").number(tile.tensors).key("elements").number(tile.elements).key("bytes").number(tile.bytes);
    json.key("bits");
    write_number(json,
                 tile.elements == 0 ? 0 : static_cast<double>(tile.bytes) * 8 / static_cast<double>(tile.elements));
    json.close('}');
  }
  json.close(']').close('}');
}

}  // namespace tare::view
