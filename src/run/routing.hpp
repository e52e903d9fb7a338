// Which experts a token uses, and how much each of them counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arch/compute_facts.hpp"

namespace tare::run {

struct Routing {
  arch::RouterScores scores = arch::RouterScores::softmax;
  std::size_t experts = 0, used = 0;
  bool normalizes = false;  // the weights of the chosen experts sum to 1, before they are scaled
  float scale = 1;
  // Experts are chosen from the best `used_groups` of `groups`. A group counts as much as the sum of its best scores.
  std::size_t groups = 1, used_groups = 1, best_of_group = 1;
};

// Chooses for one token after another. For one thread at a time.
class Router {
 public:
  // `bias`: is added to the scores for the choice alone; may be empty.
  Router(const Routing& routing, std::span<const float> bias);

  // First, the caller sets the logits of all experts and calls score(). Throws corrupt `run.overflow` if they are not finite.
  std::vector<float>& logits() { return logits_; }
  void score();
  // Fills `chosen` with as many experts as it has room for, best first.
  void choose(std::span<std::uint32_t> chosen);
  // The weights of experts, whether or not choose() would choose them. Valid until the next call.
  std::span<const float> weights(std::span<const std::uint32_t> chosen);

 private:
  void keep_best_groups();

  Routing routing_;
  std::span<const float> bias_;
  std::vector<float> logits_, weights_;
  std::vector<double> scores_, choice_;
  std::vector<std::pair<double, std::size_t>> ranked_groups_;
  std::vector<double> members_;
  std::vector<std::uint32_t> order_;
};

}  // namespace tare::run
