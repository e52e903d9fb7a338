#include "run/routing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "tare/error.hpp"

namespace tare::run {

Router::Router(const Routing& routing, std::span<const float> bias)
    : routing_(routing), bias_(bias), logits_(routing.experts), scores_(routing.experts), order_(routing.experts) {}

void Router::choose(std::span<std::uint32_t> chosen) {
  choice_ = scores_;
  for (std::size_t e = 0; e < bias_.size(); ++e) choice_[e] += static_cast<double>(bias_[e]);
  if (routing_.used_groups < routing_.groups) keep_best_groups();
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  const auto better = [&](std::uint32_t a, std::uint32_t b) {
    return choice_[a] != choice_[b] ? choice_[a] > choice_[b] : a < b;
  };
  const auto middle = order_.begin() + static_cast<std::ptrdiff_t>(chosen.size());
  std::partial_sort(order_.begin(), middle, order_.end(), better);
  std::copy(order_.begin(), middle, chosen.begin());
}

std::span<const float> Router::weights(std::span<const std::uint32_t> chosen) {
  double total = 0;
  for (const std::uint32_t expert : chosen) total += scores_[expert];
  const bool divides = routing_.normalizes || routing_.scores == arch::RouterScores::softmax_of_chosen;
  const double factor = static_cast<double>(routing_.scale) / (divides ? std::max(total, 1e-20) : 1);
  weights_.clear();
  for (const std::uint32_t expert : chosen) weights_.push_back(static_cast<float>(scores_[expert] * factor));
  return weights_;
}

void Router::score() {
  // Numbers that are not finite have no order, which sorting needs.
  if (!std::ranges::all_of(logits_, [](float logit) { return std::isfinite(logit); }))
    throw Error(ErrorKind::corrupt, "run.overflow", "the scores of the experts are not finite").blame(Subject::input);
  if (routing_.scores == arch::RouterScores::sigmoid) {
    for (std::size_t e = 0; e < scores_.size(); ++e) scores_[e] = 1 / (1 + std::exp(-static_cast<double>(logits_[e])));
    return;
  }
  const auto most = static_cast<double>(*std::ranges::max_element(logits_));
  double total = 0;
  for (std::size_t e = 0; e < scores_.size(); ++e)
    total += scores_[e] = std::exp(static_cast<double>(logits_[e]) - most);
  for (double& score : scores_) score /= total;
}

void Router::keep_best_groups() {
  const std::size_t size = routing_.experts / routing_.groups;
  ranked_groups_.clear();
  for (std::size_t group = 0; group < routing_.groups; ++group) {
    const auto first = choice_.begin() + static_cast<std::ptrdiff_t>(group * size);
    members_.assign(first, first + static_cast<std::ptrdiff_t>(size));
    const auto middle = members_.begin() + static_cast<std::ptrdiff_t>(routing_.best_of_group);
    std::partial_sort(members_.begin(), middle, members_.end(), std::greater<>());
    ranked_groups_.emplace_back(-std::accumulate(members_.begin(), middle, 0.0), group);
  }
  std::ranges::sort(ranked_groups_);
  for (std::size_t i = routing_.used_groups; i < ranked_groups_.size(); ++i)
    std::fill_n(choice_.begin() + static_cast<std::ptrdiff_t>(ranked_groups_[i].second * size), size,
                -std::numeric_limits<double>::infinity());
}

}  // namespace tare::run
