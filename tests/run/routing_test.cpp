// Which experts are chosen, and their weights, against the definitions.
#include "run/routing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tare/error.hpp"

namespace tare::run {
namespace {

using arch::RouterScores;
using Chosen = std::vector<std::uint32_t>;

struct Routed {
  Chosen chosen;
  std::vector<float> weights;
};

Routed routed(const Routing& routing, const std::vector<float>& logits, const std::vector<float>& bias = {}) {
  Router router(routing, bias);
  router.logits() = logits;
  router.score();
  Routed made{.chosen = Chosen(routing.used), .weights = {}};
  router.choose(made.chosen);
  const std::span<const float> weights = router.weights(made.chosen);
  made.weights.assign(weights.begin(), weights.end());
  return made;
}

const std::vector<float> kShares = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};

TEST(RunRouting, Softmax) {
  Routing routing{.experts = 4, .used = 2};
  Routed found = routed(routing, kShares);
  EXPECT_EQ(found.chosen, (Chosen{1, 3}));
  EXPECT_NEAR(found.weights[0], 0.4, 1e-6);
  EXPECT_NEAR(found.weights[1], 0.3, 1e-6);
  routing.normalizes = true, routing.scale = 2;
  found = routed(routing, kShares);
  EXPECT_NEAR(found.weights[0], 2 * 4.0 / 7, 1e-6);
  routing.scores = RouterScores::softmax_of_chosen, routing.normalizes = false, routing.scale = 1;
  EXPECT_NEAR(routed(routing, kShares).weights[1], 3.0 / 7, 1e-6);
  EXPECT_EQ(routed(routing, {1, 1, 1, 1}).chosen, (Chosen{0, 1}));
}

TEST(RunRouting, ABiasCountsForTheChoiceAlone) {
  const Routing routing{.scores = RouterScores::sigmoid, .experts = 4, .used = 2};
  const Routed found = routed(routing, {0, 2, 1, -1}, {0.9f, -0.5f, 0, 0});
  EXPECT_EQ(found.chosen, (Chosen{0, 2}));
  EXPECT_NEAR(found.weights[0], 0.5, 1e-6);
  EXPECT_NEAR(found.weights[1], 1 / (1 + std::exp(-1.0)), 1e-6);
}

TEST(RunRouting, Groups) {
  // The best expert is in a group whose two best have less together.
  const std::vector<float> logits = {3, -9, 1.5f, 1.4f, 0, 0};
  Routing routing{.scores = RouterScores::sigmoid, .experts = 6, .used = 2, .groups = 3, .best_of_group = 2};
  EXPECT_EQ(routed(routing, logits).chosen, (Chosen{2, 3}));
  routing.used_groups = 2;
  EXPECT_EQ(routed(routing, logits).chosen, (Chosen{2, 3}));
  routing.used_groups = 1, routing.best_of_group = 1;
  EXPECT_EQ(routed(routing, logits).chosen, (Chosen{0, 1}));
  routing.used_groups = 3;
  EXPECT_EQ(routed(routing, logits).chosen, (Chosen{0, 2}));
}

// Others may have been chosen for the token, whose scores are all 0.
TEST(RunRouting, WeightsOfGivenExperts) {
  const Routing routing{.experts = 2, .used = 1, .normalizes = true};
  Router router(routing, {});
  router.logits() = {-2000, 0};
  router.score();
  EXPECT_EQ(router.weights(Chosen{0})[0], 0);
  EXPECT_EQ(router.weights(Chosen{1})[0], 1);
}

// Sums of finite weights may be infinite, or no numbers. Sorting those would leave the array.
TEST(RunRouting, ScoresThatAreNotFiniteAreAnError) {
  Routing routing{.scores = RouterScores::sigmoid, .experts = 40, .used = 2, .groups = 40, .used_groups = 20};
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> logits(40, 1);
    logits[8] = bad;
    for (const RouterScores scores : {RouterScores::sigmoid, RouterScores::softmax}) {
      routing.scores = scores;
      std::string rule;
      try {
        routed(routing, logits);
      } catch (const Error& error) {
        rule = error.rule();
      }
      EXPECT_EQ(rule, "run.overflow");
    }
  }
}

}  // namespace
}  // namespace tare::run
