#include "view/svg.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"
#include "view/file_map.hpp"
#include "view/heat.hpp"
#include "view/page.hpp"
#include "view/palette.hpp"
#include "view/treemap.hpp"
#include "wire/json.hpp"

namespace tare::view {
namespace {

constexpr double kWidth = 960;

std::string attribute(std::string_view text) { return escape_html(printable(text)); }

class Drawing {
 public:
  Drawing(double height, std::string_view title) : height_(height) {
    body_ = fmt::format("<title>{}</title>\n", attribute(title));
  }
  void rectangle(double x, double y, double width, double height, std::string_view fill, std::string_view hint = {}) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"", x, y,
                         std::max(0.0, width), std::max(0.0, height), fill);
    body_ += hint.empty() ? std::string("/>\n") : fmt::format("><title>{}</title></rect>\n", attribute(hint));
  }
  void text(double x, double y, std::string_view what, double size = 11, std::string_view anchor = "start",
            std::string_view fill = "#3b4252") {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\">{}</text>\n",
                         x, y, size, anchor, fill, attribute(what));
  }
  // Text that rises to the right, so that the labels of neighbouring columns do not overlap.
  void slanted_text(double x, double y, std::string_view what, double size) {
    body_ += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-50)\" font-size=\"{}\" fill=\"#3b4252\">{}</text>\n", x, y,
        size, attribute(what));
  }
  void circle(double x, double y, double radius, std::string_view fill, std::string_view hint) {
    body_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" fill-opacity=\"0.75\"><title>{}</title></circle>\n",
        x, y, radius, fill, attribute(hint));
  }
  void line(double x1, double y1, double x2, double y2) {
    body_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"#c8ccd4\"/>\n", x1, y1, x2, y2);
  }
  std::string finish() const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"system-ui, sans-serif\" "
        "role=\"img\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfd\"/>\n{}</svg>\n",
        kWidth, height_, body_);
  }

 private:
  double height_;
  std::string body_;
};

// Shortens text to about the number of letters that fit.
std::string fitted(std::string_view text, double width, double size = 11) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / (size * 0.56)));
  if (room < 3) return {};
  // A character begins with a byte that does not continue another. Three bytes and more are nearly always a wide one.
  std::size_t used = 0, cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) == 0x80) continue;
    if (used + 1 <= room) cut = i;
    used += byte >= 0xE0 ? 2 : 1;
  }
  return used <= room ? std::string(text) : std::string(text.substr(0, cut)) + "…";
}

struct LegendEntry {
  std::string label;
  std::string_view colour;
};

// A row of coloured squares with their names; what does not fit on the row is counted.
void draw_legend(Drawing& drawing, std::span<const LegendEntry> entries, double y) {
  double x = 8;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (x > kWidth - 120) {
      drawing.text(x, y + 10, fmt::format("and {} more", entries.size() - i));
      return;
    }
    drawing.rectangle(x, y, 11, 11, entries[i].colour);
    drawing.text(x + 16, y + 10, entries[i].label);
    x += 34 + 6.6 * static_cast<double>(entries[i].label.size());
  }
}

std::vector<LegendEntry> entries_of(std::span<const std::string> types) {
  std::vector<LegendEntry> entries;
  for (const std::string& type : types) entries.push_back({type, colour_of_type(type)});
  return entries;
}

constexpr std::string_view kSeveralTypes = "#b8bec9";

std::string draw_treemap(const OpenModel& model) {
  constexpr double kHeight = 480;
  Drawing drawing(kHeight + 28, "Tensors by bytes, coloured by type");
  bool several = false;
  for (const Tile& tile : lay_out(model, "", kWidth, kHeight)) {
    const std::string hint =
        fmt::format("{}: {}, {}", tile.prefix, size_text(tile.bytes),
                    tile.type < 0 ? "several types" : model.types()[static_cast<std::size_t>(tile.type)]);
    const std::string fill = tile.opened ? "#e9ebf0"
                             : tile.type < 0
                                 ? std::string(kSeveralTypes)
                                 : std::string(colour_of_type(model.types()[static_cast<std::size_t>(tile.type)]));
    several = several || (!tile.opened && tile.type < 0);
    drawing.rectangle(tile.x + 0.5, tile.y + 0.5, tile.width - 1, tile.height - 1, fill, hint);
    if (tile.height > 14 && tile.width > 30)
      drawing.text(tile.x + 4, tile.y + 11.5, fitted(tile.label, tile.width), 10, "start",
                   tile.opened ? "#3b4252" : ink_on(fill));
  }
  std::vector<LegendEntry> legend = entries_of(model.types());
  if (several) legend.push_back({"several types", kSeveralTypes});
  draw_legend(drawing, legend, kHeight + 10);
  return drawing.finish();
}

Value parsed(const std::string& json) {
  wire::TreeBounds bounds;
  return wire::read_json(json, bounds);
}

const Value& at(const Value& value, std::string_view key) {
  static const Value kNothing;
  const Map* const map = value.get<Map>();
  const Value* const found = map == nullptr ? nullptr : map->find(key);
  return found == nullptr ? kNothing : *found;
}

double number_in(const Value& value) {
  if (const auto* whole = value.get<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* large = value.get<std::uint64_t>()) return static_cast<double>(*large);
  if (const auto* real = value.get<double>()) return *real;
  return 0;
}

std::string text_in(const Value& value) { return value.text() == nullptr ? std::string() : *value.text(); }

const List& list_in(const Value& value) {
  static const List kNone;
  const List* const list = value.get<List>();
  return list == nullptr ? kNone : *list;
}

std::string draw_layers(Service& service, const OpenModel& model) {
  const Value answer = parsed(service.call("layers"));
  const List& roles = list_in(at(answer, "roles"));
  const List& rows = list_in(at(answer, "layers"));
  constexpr double kLeft = 44, kTop = 96, kRight = 72;  // the last label needs room, too
  const double cell =
      std::clamp((kWidth - kLeft - kRight) / std::max<double>(1, static_cast<double>(roles.size())), 8.0, 64.0);
  const double high = std::clamp(600 / std::max<double>(1, static_cast<double>(rows.size())), 4.0, 18.0);
  Drawing drawing(kTop + high * static_cast<double>(rows.size()) + 32, "Layers and roles, coloured by type");
  for (std::size_t i = 0; i < roles.size(); ++i)
    drawing.slanted_text(kLeft + cell * (static_cast<double>(i) + 0.5), kTop - 6, fitted(text_in(roles[i]), 110, 10),
                         10);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    const double top = kTop + high * static_cast<double>(y);
    if (rows.size() <= 40 || y % 8 == 0) drawing.text(kLeft - 6, top + high - 3, fmt::format("{}", y), 9, "end");
    const List& row = list_in(rows[y]);
    for (std::size_t x = 0; x < row.size(); ++x) {
      if (row[x].is_null()) continue;
      const std::string type = text_in(at(row[x], "type"));
      drawing.rectangle(kLeft + cell * static_cast<double>(x) + 0.5, top + 0.5, cell - 1, high - 1,
                        colour_of_type(type), fmt::format("layer {}, {}: {}", y, text_in(roles[x]), type));
    }
  }
  draw_legend(drawing, entries_of(model.types()), kTop + high * static_cast<double>(rows.size()) + 12);
  return drawing.finish();
}

struct SpanColour {
  std::string_view kind, label, colour;
};
// Bytes that are no tensor's, or several tensors'.
constexpr SpanColour kSpanColours[] = {
    {"header", "header", "#5b6472"},
    {"attachment", "attachment", "#8a8f99"},
    {"several", "several types", kSeveralTypes},
    {"shared", "shared bytes", "#c9b8d8"},
    {"gap", "gap", "#dfe2e8"},
    {"end", "rest", "#eef0f3"},
};

std::string draw_map(const OpenModel& model) {
  const std::size_t files = std::min<std::size_t>(model.files().size(), 24);
  Drawing drawing(40.0 * static_cast<double>(files) + 32, "What is where in the file");
  std::set<std::string_view> drawn;
  for (std::size_t file = 0; file < files; ++file) {
    const double y = 40.0 * static_cast<double>(file) + 18, size = static_cast<double>(model.files()[file].bytes);
    drawing.text(8, y - 5, fmt::format("{}, {}", model.files()[file].name, size_text(model.files()[file].bytes)));
    for (const Span& span : spans_of(model, static_cast<std::uint32_t>(file), 0, model.files()[file].bytes, 400)) {
      std::string_view fill = kSeveralTypes;
      if (span.type >= 0) {
        fill = colour_of_type(model.types()[static_cast<std::size_t>(span.type)]);
      } else if (span.tensor < 0 || span.kind != "tensor") {
        const auto* const row = std::ranges::find(kSpanColours, span.kind, &SpanColour::kind);
        if (row != std::end(kSpanColours)) fill = row->colour;
      }
      drawn.insert(fill);
      drawing.rectangle(
          8 + (kWidth - 16) * static_cast<double>(span.offset) / size, y,
          std::max(0.4, (kWidth - 16) * static_cast<double>(span.bytes) / size - 0.3), 16, fill,
          span.tensor >= 0 ? model.shown_name(static_cast<std::size_t>(span.tensor)) : std::string(span.kind));
    }
  }
  std::vector<LegendEntry> legend = entries_of(model.types());
  for (const SpanColour& row : kSpanColours)
    if (drawn.contains(row.colour)) legend.push_back({std::string(row.label), row.colour});
  draw_legend(drawing, legend, 40.0 * static_cast<double>(files) + 12);
  return drawing.finish();
}

std::string counted_are(double n, std::string_view thing) {
  return fmt::format("{:.0f} {}{}", n, thing, n == 1 ? " is" : "s are");
}

std::string draw_histogram(Service& service, const OpenModel& model, std::size_t place) {
  const std::string tensor = model.shown_name(place);
  const Value answer = parsed(service.call(fmt::format("numbers?tensor={}", place)));
  // A few far values would leave all others in one bar.
  const Value& inner = at(answer, "inner");
  const bool clipped = inner.get<Map>() != nullptr;
  const Value& range = clipped ? inner : answer;
  const List& bins = list_in(at(range, "histogram"));
  constexpr double kHeight = 260, kTop = 30, kBase = kTop + kHeight, kEnd = 54;
  Drawing drawing(kHeight + 66, fmt::format("Histogram of {}", tensor));
  const double below = number_in(at(inner, "below")), above = number_in(at(inner, "above"));
  const double left = below > 0 ? 20 + kEnd : 20, right = above > 0 ? kWidth - 20 - kEnd : kWidth - 20;
  double most = 1;
  for (const Value& bin : bins) most = std::max(most, number_in(bin));
  const double width = (right - left) / std::max<double>(1, static_cast<double>(bins.size()));
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double high = kHeight * number_in(bins[i]) / most;
    drawing.rectangle(left + width * static_cast<double>(i), kBase - high, width - 1, high, "#4477aa");
  }
  drawing.line(20, kBase + 0.5, kWidth - 20, kBase + 0.5);
  // Values outside have a block at their end, whose height has no meaning.
  const auto mark_end = [&](double x, double values, std::string_view before, std::string_view after) {
    drawing.rectangle(x, kBase - 26, kEnd - 8, 26, "#ffaa00");
    const std::string text = values < 1e4 ? fmt::format("{:.0f}", values) : fmt::format("{:.0f}k", values / 1000);
    drawing.text(x + (kEnd - 8) / 2, kBase - 9, fmt::format("{}{}{}", before, text, after), 11, "middle", "#14171c");
  };
  if (below > 0) mark_end(20, below, "◂ ", "");
  if (above > 0) mark_end(right + 8, above, "", " ▸");
  drawing.text(
      20, 16,
      !clipped ? tensor
               : fmt::format("{}: {} below and {:.0f} above, from {} to {}", tensor, counted_are(below, "value"), above,
                             number_text(number_in(at(answer, "min"))), number_text(number_in(at(answer, "max")))),
      12);
  const double low = number_in(at(range, clipped ? "low" : "min"));
  const double high = number_in(at(range, clipped ? "high" : "max"));
  drawing.text(left, kBase + 18, number_text(low));
  drawing.text(right, kBase + 18, number_text(high), 11, "end");
  if (low < 0 && high > 0) {
    // Halves, because the difference of two large numbers may overflow.
    const double zero = left + (right - left) * (-low / 2) / (high / 2 - low / 2);
    if (zero > left + 70 && zero < right - 70) {
      drawing.line(zero, kTop, zero, kBase);
      drawing.text(zero, kBase + 18, "0", 11, "middle");
    }
  }
  return drawing.finish();
}

// The colours from -`limit` to `limit` with what is outside, below a heat map.
void draw_scale(Drawing& drawing, double y, double limit, bool beyond, bool odd) {
  constexpr int kSteps = 11;
  constexpr double kStep = 22;
  const std::string low = number_text(-limit), high = number_text(limit);
  double x = 8;
  drawing.text(x, y + 10, low);
  x += 8 + 6.6 * static_cast<double>(low.size());
  for (int i = 0; i < kSteps; ++i, x += kStep)
    drawing.rectangle(x, y, kStep + 0.2, 12, diverging(static_cast<double>(i - kSteps / 2) / (kSteps / 2)));
  drawing.text(x + 8, y + 10, high);
  x += 32 + 6.6 * static_cast<double>(high.size());
  if (beyond) {
    drawing.rectangle(x, y, 12, 12, diverging(-2));
    drawing.rectangle(x + 14, y, 12, 12, diverging(2));
    drawing.text(x + 32, y + 10, "outside");
    x += 100;
  }
  if (odd) {
    drawing.rectangle(x, y, 12, 12, diverging(std::numeric_limits<double>::quiet_NaN()));
    drawing.text(x + 18, y + 10, "NaN or infinity");
  }
}

std::string draw_heat(const OpenModel& model, std::size_t place) {
  const HeatMap map = heat_map(model.model().tensors[place], {}, 64, 96, Reduce::largest);
  double most = 0;
  const double limit = bound_without_outliers(map.cells);
  std::size_t outside = 0, odd = 0;
  for (std::size_t i = 0; i < map.cells.size(); ++i) {
    const double size = std::abs(map.cells[i]);
    if (!map.seen[i]) continue;
    if (std::isfinite(size)) most = std::max(most, size);
    std::isfinite(size) ? outside += size > limit : ++odd;
  }
  const double width = (kWidth - 16) / std::max<double>(1, static_cast<double>(map.width));
  const double high = std::min(width, 12.0);
  const double bottom = 26 + high * static_cast<double>(map.height);
  Drawing drawing(bottom + 30, fmt::format("Heat map of {}", model.shown_name(place)));
  drawing.text(8, 16,
               fmt::format("{}{}, {}, largest magnitude {:.4g}{}",
                           odd > 0 ? fmt::format("{} of {} cells with NaN or infinity: ", odd, map.cells.size()) : "",
                           model.shown_name(place), model.model().tensors[place].shape.text(), most,
                           outside > 0 ? fmt::format("; {} of {} cells {} beyond {:.4g}, where the colours end",
                                                     outside, map.cells.size(), outside == 1 ? "is" : "are", limit)
                                       : ""),
               12);
  for (std::size_t y = 0; y < map.height; ++y)
    for (std::size_t x = 0; x < map.width; ++x)
      drawing.rectangle(8 + width * static_cast<double>(x), 26 + high * static_cast<double>(y), width + 0.2, high + 0.2,
                        map.seen[y * map.width + x]
                            ? diverging(limit > 0 ? map.cells[y * map.width + x] / limit : map.cells[y * map.width + x])
                            : "#d8d8d8");
  if (limit > 0) draw_scale(drawing, bottom + 10, limit, outside > 0, odd > 0);
  return drawing.finish();
}

double error_in(const Value& row) {
  const Value& error = at(row, "relative_rms");
  return error.text() != nullptr ? std::numeric_limits<double>::infinity() : number_in(error);
}

std::string draw_errors(Service& service) {
  static_cast<void>(service.call_and_wait("compare/start"));
  const Value answer = parsed(service.call_and_wait("compare/all?count=0&plot=1"));
  constexpr double kHeight = 420, kLeft = 64, kTop = 30;
  Drawing drawing(kHeight + 94, "Relative error against bits per weight, a dot for each tensor");
  std::vector<std::string> types;   // the types of B for the dots
  constexpr double kMargin = 1.04;  // so that no dot is on the edge
  double most_bits = 1, least = 0, most = -12;
  bool infinite = false;
  for (const Value& row : list_in(at(answer, "plot"))) {
    const double error = error_in(row);
    most_bits = std::max(most_bits, number_in(at(row, "bits")));
    infinite = infinite || std::isinf(error);
    if (error > 0 && std::isfinite(error))
      least = std::min(least, std::log10(error)), most = std::max(most, std::log10(error));
  }
  most_bits *= kMargin;
  // Infinite errors are drawn on a line above all others.
  least = std::floor(least), most = std::max(std::ceil(most), least + 1) + (infinite ? 1 : 0);
  for (double decade = least; decade <= most; ++decade) {
    const double y = kTop + kHeight * (most - decade) / (most - least);
    drawing.line(kLeft, y, kWidth - 16, y);
    drawing.text(kLeft - 8, y + 4, infinite && decade == most ? "inf" : fmt::format("1e{:.0f}", decade), 11, "end");
  }
  for (const Value& row : list_in(at(answer, "plot"))) {
    const double error = error_in(row), bits = number_in(at(row, "bits"));
    if (error <= 0) continue;
    const double high = std::isinf(error) ? most : std::log10(error);
    if (std::string type = text_in(at(row, "type")); std::ranges::find(types, type) == types.end())
      types.push_back(std::move(type));
    drawing.circle(kLeft + (kWidth - kLeft - 24) * bits / most_bits, kTop + kHeight * (most - high) / (most - least), 4,
                   colour_of_type(text_in(at(row, "type"))),
                   fmt::format("{}: {:.3g} bits, error {:.3g}", text_in(at(row, "name")), bits, error));
  }
  const int step = most_bits > 20 ? 8 : most_bits > 10 ? 4 : most_bits > 5 ? 2 : 1;
  for (int bits = 0; bits <= most_bits; bits += step)
    drawing.text(kLeft + (kWidth - kLeft - 24) * bits / most_bits, kHeight + 48, fmt::format("{}", bits), 11, "middle");
  drawing.text(kWidth / 2, kHeight + 65, "bits per weight in B", 11, "middle");
  drawing.text(8, 12, "relative error", 11);
  std::ranges::sort(types);
  draw_legend(drawing, entries_of(types), kHeight + 76);
  return drawing.finish();
}

}  // namespace

std::vector<std::string> picture_names() {
  return {"treemap", "layers", "map", "errors", "histogram:TENSOR", "heat:TENSOR"};
}

std::string picture(Service& service, std::string_view name) {
  const auto models = service.models();
  const OpenModel& model = *models.front();
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string_view kind = name.substr(0, colon), tensor = name.substr(std::min(colon + 1, name.size()));
  if (name == "treemap") return draw_treemap(model);
  if (name == "layers") return draw_layers(service, model);
  if (name == "map") return draw_map(model);
  if (name == "errors") return draw_errors(service);
  if ((kind == "histogram" || kind == "heat") && !tensor.empty()) {
    const std::size_t place = tensor_called(model, tensor, "`tare ls` lists the names");
    return kind == "heat" ? draw_heat(model, place) : draw_histogram(service, model, place);
  }
  throw Error(ErrorKind::usage, "view.picture",
              fmt::format("no picture is called '{}'; the choices are {}", name, fmt::join(picture_names(), ", ")));
}

}  // namespace tare::view
