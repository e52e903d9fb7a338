// Means and quantiles with their standard errors.
#pragma once

#include <cstdint>
#include <vector>

#include "tare/run.hpp"

namespace tare::run {

Estimate mean_of(const std::vector<double>& values);
// `share`: 0.5 for the median. The standard error is half of the distance of the order statistics that are a standard
// deviation of the binomial distribution away.
Estimate quantile_of(std::vector<double> values, double share);
// From the losses of tokens.
Perplexity perplexity_of(const std::vector<double>& losses, std::uint64_t pieces);

}  // namespace tare::run
