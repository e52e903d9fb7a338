#include "view/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tare::view {
namespace {

struct Hue {
  std::string_view part, colour;
};

// The first entry whose word is in the type's name decides: floats are blue to green, 8 bits olive, fewer bits warmer.
constexpr Hue kHues[] = {
    {"f64", "#332288"}, {"bf16", "#44aa99"}, {"f16", "#88ccee"},  {"f32", "#4477aa"}, {"f8", "#999933"},
    {"fp8", "#999933"}, {"q8", "#999933"},   {"int8", "#999933"}, {"i8", "#999933"},  {"u8", "#bbbbbb"},
    {"k6", "#ddcc77"},  {"q6", "#ddcc77"},   {"q5", "#e0b050"},   {"k4", "#ee8866"},  {"q4", "#ee8866"},
    {"iq4", "#ee8866"}, {"int4", "#ee8866"}, {"4", "#ee8866"},    {"k3", "#cc6677"},  {"q3", "#cc6677"},
    {"3", "#cc6677"},   {"k2", "#aa4499"},   {"q2", "#aa4499"},   {"2", "#aa4499"},   {"q1", "#882255"},
    {"1", "#882255"},
};

}  // namespace

std::string_view colour_of_type(std::string_view type) {
  for (const Hue& hue : kHues)
    if (type.find(hue.part) != std::string_view::npos) return hue.colour;
  return "#bbbbbb";
}

double bound_without_outliers(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value) || value == 0; });
  for (double& value : values) value = std::abs(value);
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t last = values.size() - 1;
  const double usual = values[last < 50 ? last - std::min<std::size_t>(last, 1) : last * 98 / 100];
  return *(std::upper_bound(values.begin(), values.end(), 2 * usual) - 1);
}

std::string diverging(double share) {
  if (!std::isfinite(share)) return "#ffaa00";
  if (std::abs(share) > 1) return share < 0 ? "#03163c" : "#3c000e";
  // Most values of a tensor are small; the square root spreads them over more colours.
  const double depth = std::sqrt(std::min(1.0, std::abs(share)));
  const std::array<double, 3> end =
      share < 0 ? std::array<double, 3>{33, 102, 172} : std::array<double, 3>{178, 24, 43};
  const auto mix = [&](std::size_t i) { return static_cast<int>(std::lround(247 + (end[i] - 247) * depth)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

}  // namespace tare::view
