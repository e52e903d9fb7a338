#include "run/estimates.hpp"

#include <algorithm>
#include <cmath>

namespace tare::run {

Estimate mean_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (count - 1) / count)};
}

Estimate quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  const double at = share * last, deviation = std::sqrt(static_cast<double>(values.size()) * share * (1 - share));
  // Between two values, in proportion.
  const auto value_at = [&](double rank) {
    const double inside = std::clamp(rank, 0.0, last), low = std::floor(inside);
    const double first = values[static_cast<std::size_t>(low)],
                 second = values[static_cast<std::size_t>(std::min(low + 1, last))];
    return first + (second - first) * (inside - low);
  };
  return {value_at(at), (value_at(at + deviation) - value_at(at - deviation)) / 2};
}

Perplexity perplexity_of(const std::vector<double>& losses, std::uint64_t pieces) {
  Perplexity made{.tokens = losses.size(), .pieces = pieces};
  made.loss = mean_of(losses);
  made.perplexity.value = std::exp(made.loss.value);
  made.perplexity.error = made.perplexity.value * made.loss.error;
  return made;
}

}  // namespace tare::run
