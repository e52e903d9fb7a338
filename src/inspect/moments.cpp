#include "inspect/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tare::inspect {
namespace {

// Several running sums at once: rounding errors grow more slowly, and the additions need not wait for each other.
template <typename Term>
double sum(std::span<const double> values, const Term& term) {
  std::array<double, 8> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= values.size(); i += lanes.size())
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] += term(values[i + lane]);
  for (std::size_t lane = 0; i < values.size(); ++i, ++lane) lanes[lane] += term(values[i]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

Scale Scale::of(double min, double max) {
  Scale scale;
  std::frexp(std::max(std::abs(min), std::abs(max)), &scale.exponent);
  scale.exponent = std::max(scale.exponent, -1000);  // the factor itself must stay finite
  scale.factor = std::ldexp(1.0, -scale.exponent);
  return scale;
}

void Moments::merge(const Moments& other) {
  if (other.count == 0) return;
  const double total = count + other.count, shift = other.mean - mean;
  mean += shift * (other.count / total);
  squares += other.squares + shift * shift * (count * (other.count / total));
  count = total;
}

Moments moments_of(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = sum(values, [](double v) { return v; }) / count;
  return {count, mean, sum(values, [&](double v) { return (v - mean) * (v - mean); })};
}

}  // namespace tare::inspect
