#include "run/rope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/printable.hpp"

namespace tare::run {
namespace {

double yarn_stretch(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

Rotation yarn(const Rope& rope, std::vector<double> frequencies) {
  const auto dimensions = static_cast<double>(rope.rotated);
  const double factor = rope.factor.value_or(rope.context / rope.original);
  Rotation made;
  if (rope.attention_factor)
    made.scale = static_cast<float>(*rope.attention_factor);
  else if (rope.mscale.value_or(0) != 0 && rope.mscale_all.value_or(0) != 0)
    made.scale = static_cast<float>(yarn_stretch(factor, *rope.mscale) / yarn_stretch(factor, *rope.mscale_all));
  else
    made.scale = static_cast<float>(yarn_stretch(factor, 1));
  // The element whose wavelength fits so many times into the original context.
  const auto element = [&](double turns) {
    return dimensions * std::log(rope.original / (turns * 2 * std::numbers::pi)) / (2 * std::log(rope.theta));
  };
  const auto number = [](const std::optional<double>& said, double usual) {
    return said.value_or(0) == 0 ? usual : *said;
  };
  double low = element(number(rope.beta_fast, 32)), high = element(number(rope.beta_slow, 1));
  if (rope.truncates) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0), high = std::min(high, dimensions - 1);
  if (low == high) high += 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    // Fast pairs stay as they are, slow ones are stretched.
    const double stretched = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    made.frequencies.push_back(
        static_cast<float>(frequencies[i] / factor * stretched + frequencies[i] * (1 - stretched)));
  }
  return made;
}

Rotation longrope(const Rope& rope, std::uint64_t tokens, const std::vector<double>& frequencies) {
  const double factor = rope.factor.value_or(rope.context / rope.original);
  Rotation made;
  if (rope.attention_factor)
    made.scale = static_cast<float>(*rope.attention_factor);
  else if (factor > 1)
    made.scale = static_cast<float>(std::sqrt(1 + std::log(factor) / std::log(rope.original)));
  const auto& divisors = static_cast<double>(tokens) > rope.original ? rope.long_factors : rope.short_factors;
  for (std::size_t i = 0; i < frequencies.size(); ++i)
    made.frequencies.push_back(static_cast<float>(frequencies[i] / divisors[i]));
  return made;
}

double llama3(const Rope& rope, double frequency) {
  const double turns = rope.original * frequency / (2 * std::numbers::pi);  // in the original context
  if (turns > *rope.high_frequency) return frequency;
  if (turns < *rope.low_frequency) return frequency / *rope.factor;
  const double smooth = (turns - *rope.low_frequency) / (*rope.high_frequency - *rope.low_frequency);
  return (1 - smooth) * frequency / *rope.factor + smooth * frequency;
}

}  // namespace

float latent_stretch(const Rope& rope) {
  if (rope.kind == "default" || rope.mscale_all.value_or(0) == 0) return 1;
  const double stretch = yarn_stretch(rope.factor.value_or(1), *rope.mscale_all);
  return static_cast<float>(stretch * stretch);
}

std::string problem_of(const Rope& rope) {
  const auto lacks = [](const std::optional<double>& number) { return !number || !(*number > 0); };
  const std::size_t pairs = rope.rotated / 2;
  if (rope.rotated == 0 || rope.rotated % 2 != 0)
    return fmt::format("{} elements of a head are rotated, expected an even number", rope.rotated);
  if (!(rope.theta > 1) || !std::isfinite(rope.theta))
    return fmt::format("rope_theta is {}, expected more than 1", rope.theta);
  if (rope.kind == "default") return {};
  if (rope.kind == "linear") return lacks(rope.factor) ? "\"linear\" needs a factor" : "";
  if (rope.kind == "dynamic")
    return lacks(rope.factor) || rope.context <= 0 || rope.rotated < 4
               ? "\"dynamic\" needs a factor and max_position_embeddings"
               : "";
  if (rope.original <= 1) return fmt::format("\"{}\" needs original_max_position_embeddings", quote(rope.kind));
  if (rope.kind == "yarn") return lacks(rope.factor) && rope.context <= 0 ? "\"yarn\" needs a factor" : "";
  if (rope.kind == "llama3")
    return lacks(rope.factor) || lacks(rope.low_frequency) || lacks(rope.high_frequency) ||
                   *rope.high_frequency <= *rope.low_frequency
               ? "\"llama3\" needs factor, low_freq_factor and a larger high_freq_factor"
               : "";
  if (rope.kind == "longrope") {
    for (const auto& [name, list] :
         {std::pair("long_factor", &rope.long_factors), {"short_factor", &rope.short_factors}})
      if (list->size() != pairs || std::ranges::any_of(*list, [](double x) { return !(x > 0); }))
        return fmt::format("{} has {} numbers, expected {} above 0", name, list->size(), pairs);
    return {};
  }
  return fmt::format("positions are scaled by \"{}\", which is not known here", quote(rope.kind));
}

Rotation rotation_of(const Rope& rope, std::uint64_t tokens) {
  const auto dimensions = static_cast<double>(rope.rotated);
  double theta = rope.theta;
  if (rope.kind == "dynamic") {
    const double length = std::max(static_cast<double>(tokens), rope.context);
    theta *= std::pow(*rope.factor * length / rope.context - (*rope.factor - 1), dimensions / (dimensions - 2));
  }
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < rope.rotated; i += 2)
    frequencies.push_back(std::pow(theta, -static_cast<double>(i) / dimensions));
  if (rope.kind == "yarn") return yarn(rope, std::move(frequencies));
  if (rope.kind == "longrope") return longrope(rope, tokens, frequencies);
  Rotation made;
  for (const double frequency : frequencies)
    made.frequencies.push_back(static_cast<float>(rope.kind == "linear"   ? frequency / *rope.factor
                                                  : rope.kind == "llama3" ? llama3(rope, frequency)
                                                                          : frequency));
  return made;
}

}  // namespace tare::run
