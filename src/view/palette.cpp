#include "view/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tare::view {
namespace {

struct Hue {
  std::string_view part, colour;
};

// The first entry whose word is in the type's name decides. Floats are blue to green, other integers brown, 8 bits olive, fewer
// bits warmer; types with the same number of bits differ in lightness.
constexpr Hue kHues[] = {
    {"f64", "#332288"},     {"bf16", "#44aa99"},  {"f16", "#88ccee"},    {"f32", "#4477aa"},     {"i64", "#776655"},
    {"u64", "#5c4a3c"},     {"i32", "#998877"},   {"u32", "#7f6a70"},    {"i16", "#c4b08a"},     {"u16", "#d9b3bd"},
    {"complex", "#661133"}, {"i8", "#5f6b00"},    {"u8", "#a3b899"},     {"bool", "#8f959f"},    {"f8_e5", "#c5c76a"},
    {"f8", "#888833"},      {"fp8", "#888833"},   {"int8", "#777711"},   {"q8_1", "#c5c76a"},    {"q8_k", "#5f5f18"},
    {"q8", "#999933"},      {"f6", "#d6cc5c"},    {"k6", "#d6cc5c"},     {"q6", "#d6cc5c"},      {"q5_0", "#e0a830"},
    {"q5_1", "#f8dfa8"},    {"q5", "#b07d1a"},    {"iq4_nl", "#b5532f"}, {"iq4", "#8f3a1e"},     {"q4_0", "#f4a489"},
    {"q4_1", "#fbd2c3"},    {"q4", "#e57a50"},    {"k4", "#f4a489"},     {"int4", "#b5532f"},    {"iq3_xxs", "#f0b6bf"},
    {"iq3", "#e08a98"},     {"q3", "#cc6677"},    {"k3", "#cc6677"},     {"iq2_xxs", "#dcb0da"}, {"iq2_xs", "#cc8cc9"},
    {"iq2", "#bb66b5"},     {"q2", "#aa4499"},    {"k2", "#aa4499"},     {"iq1_m", "#b26a8e"},   {"tq1", "#5a1238"},
    {"q1", "#882255"},      {"nvfp4", "#b5532f"}, {"f4", "#e57a50"},     {"group", "#bbbbbb"},   {"mx/", "#bbbbbb"},
    {"8", "#999933"},       {"6", "#d6cc5c"},     {"5", "#b07d1a"},      {"4", "#e57a50"},       {"3", "#cc6677"},
    {"2", "#aa4499"},       {"1", "#882255"},
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

std::string_view ink_on(std::string_view colour) {
  double light = 0;
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    int part = 0;
    std::from_chars(colour.data() + 1 + 2 * i, colour.data() + 3 + 2 * i, part, 16);
    const double share = part / 255.0;
    light += kWeights[i] * (share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return light > 0.18 ? "#16181d" : "#ffffff";
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
