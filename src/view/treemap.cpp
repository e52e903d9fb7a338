#include "view/treemap.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "base/checked.hpp"
#include "view/endpoints.hpp"
#include "view/names.hpp"

namespace tare::view {
namespace {

constexpr unsigned kMostDepth = 10;
constexpr double kHeading = 15, kEdge = 2;             // heading of a group; margin around its contents
constexpr double kLeastWidth = 36, kLeastHeight = 30;  // smallest group whose contents are shown
constexpr std::size_t kMostBranches = 1200;            // per group; beyond that, small ones are bundled
constexpr std::string_view kUpTo = " … ";              // in the name of a bundle

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

// What a tile shows: a branch, or a bundle of many small ones that follow each other.
struct Part {
  Branch branch;
  bool bundle = false;
};

// The parts of a group, largest first. If there are too many, branches of ordinary size are bundled, the same number
// each, so that many tensors that are alike look alike.
std::vector<Part> parts_of(std::vector<Branch> all) {
  std::erase_if(all, [](const Branch& branch) { return branch.bytes == 0; });
  std::vector<Part> parts;
  std::size_t bundled = all.size();
  std::uint64_t large = UINT64_MAX;  // branches of more bytes are never bundled
  if (all.size() > kMostBranches) {
    std::vector<std::uint64_t> sizes;
    std::uint64_t sum = 0;
    for (const Branch& branch : all) sizes.push_back(branch.bytes), sum += branch.bytes;
    const auto last = sizes.begin() + kMostBranches / 2;
    std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
    large = std::max(*last, sum / all.size() * 4);
    bundled = ceil_div(all.size(), kMostBranches / 2);
  }
  std::size_t inside = bundled;  // branches in the last bundle; it is full at first
  for (Branch& branch : all) {
    if (all.size() <= kMostBranches || branch.bytes > large) {
      parts.push_back({std::move(branch)});
      inside = bundled;
      continue;
    }
    if (inside >= bundled) {
      parts.push_back({std::move(branch), true});
      inside = 1;
      continue;
    }
    Branch& to = parts.back().branch;
    to.label = short_name(to.label.substr(0, to.label.find(kUpTo)), 60);
    to.label += std::string(kUpTo) + short_name(branch.label, 60);
    to.bytes += branch.bytes, to.elements += branch.elements;
    to.end += branch.end - branch.begin;
    if (to.type != branch.type) to.type = -1;
    ++inside;
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.branch.bytes > b.branch.bytes; });
  return parts;
}

class Layout {
 public:
  explicit Layout(const OpenModel& model) : model_(model) {}

  // Level by level. Groups of about the same size are opened together or not at all, because a reader takes a
  // difference between them for one between their tensors.
  void fill(std::string_view prefix, std::size_t begin, std::size_t end, Area area) {
    place(parts_of(branches(model_, prefix, begin, end)), area, 0);
    for (unsigned depth = 1; depth < kMostDepth && !closed_.empty(); ++depth) {
      std::vector<Group> level = std::exchange(closed_, {});
      std::stable_sort(level.begin(), level.end(),
                       [](const Group& a, const Group& b) { return a.branch.bytes > b.branch.bytes; });
      for (std::size_t first = 0, last = 0; first < level.size(); first = last) {
        while (last < level.size() && level[last].branch.bytes >= level[first].branch.bytes / 16 * 15) ++last;
        open_alike(std::span(level).subspan(first, last - first), depth);
      }
    }
  }

  std::vector<Tile> take() { return std::move(tiles_); }

 private:
  struct Group {
    std::size_t tile;
    Branch branch;
  };

  void open_alike(std::span<const Group> groups, unsigned depth) {
    for (const Group& group : groups)
      if (tiles_[group.tile].width < kLeastWidth || tiles_[group.tile].height < kLeastHeight) return;
    std::vector<std::vector<Part>> contents;
    std::size_t needed = 0;
    for (const Group& group : groups) {
      contents.push_back(parts_of(branches(model_, group.branch.prefix, group.branch.begin, group.branch.end)));
      needed += contents.back().size();
      if (tiles_.size() + needed > kMostTiles) return;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
      Tile& tile = tiles_[groups[i].tile];
      tile.opened = true;
      const Area inside{tile.x + kEdge, tile.y + kHeading, tile.width - 2 * kEdge, tile.height - kHeading - kEdge};
      place(contents[i], inside, depth);
    }
  }

  void place(const std::vector<Part>& parts, Area area, unsigned depth) {
    double sum = 0;
    for (const Part& part : parts) sum += static_cast<double>(part.branch.bytes);
    if (sum == 0 || area.width <= 0 || area.height <= 0) return;
    const double unit = area.width * area.height / sum;
    std::vector<Weighed> weights;
    for (std::size_t i = 0; i < parts.size(); ++i)
      weights.push_back({static_cast<double>(parts[i].branch.bytes) * unit, i});
    const std::vector<Area> areas = squarify(weights, area);
    for (std::size_t i = 0; i < areas.size(); ++i) {
      const auto& [branch, bundle] = parts[i];
      Tile tile;
      tile.x = areas[i].x, tile.y = areas[i].y, tile.width = areas[i].width, tile.height = areas[i].height;
      tile.depth = depth;
      tile.label = short_name(branch.label, 130);
      tile.prefix = bundle || branch.prefix.size() > kMostPrefix ? "" : branch.prefix;
      tile.tensor = branch.leaf && !bundle ? static_cast<std::int64_t>(model_.by_name()[branch.begin]) : -1;
      tile.type = branch.type;
      tile.tensors = branch.end - branch.begin;
      tile.elements = branch.elements;
      tile.bytes = branch.bytes;
      if (!branch.leaf && !bundle) closed_.push_back({tiles_.size(), branch});
      tiles_.push_back(std::move(tile));
    }
  }

  const OpenModel& model_;
  std::vector<Tile> tiles_;
  std::vector<Group> closed_;  // groups of the last level that are not opened yet
};

}  // namespace

std::vector<Tile> lay_out(const OpenModel& model, std::string_view prefix, double width, double height) {
  Layout layout(model);
  const auto [begin, end] = run_of(model, prefix);
  layout.fill(prefix, begin, end, {0, 0, width, height});
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
