// Choices under a budget, compared with all possible ones.
#include "convert/knapsack.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "conformance/memory.hpp"

namespace tare::recipe {
namespace {

using Lists = std::vector<std::vector<Price>>;

// Sizes and errors like those of tensors of random sizes and magnitudes.
Lists random_lists(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  const auto up_to = [&](unsigned most) { return random() % most + 1; };
  Lists lists(count);
  for (auto& list : lists) {
    const std::uint64_t weights = up_to(100) * 64;
    double error = static_cast<double>(up_to(1000)) * static_cast<double>(weights);
    std::uint64_t bytes = 0;
    for (int i = 0; i < 5; ++i) {
      bytes += weights / 8 * up_to(3);
      list.push_back({bytes, error});
      error /= 1 + static_cast<double>(up_to(8));
    }
  }
  return lists;
}

struct Total {
  std::uint64_t bytes = 0;
  double error = 0;
};
Total total_of(const Lists& lists, const std::vector<std::size_t>& choice) {
  Total total;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    total.bytes += lists[i].at(choice[i]).bytes;
    total.error += lists[i].at(choice[i]).error;
  }
  return total;
}

double best_of_all(const Lists& lists, std::uint64_t budget) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> choice(lists.size(), 0);
  while (true) {
    const Total total = total_of(lists, choice);
    if (total.bytes <= budget) best = std::min(best, total.error);
    std::size_t i = 0;
    while (i < lists.size() && ++choice[i] == lists[i].size()) choice[i++] = 0;
    if (i == lists.size()) return best;
  }
}

TEST(Knapsack, FewListsGetTheBestChoice) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Lists lists = random_lists(1 + seed % 6, seed);
    std::vector<std::size_t> last(lists.size(), 4);
    const std::uint64_t least = total_of(lists, std::vector<std::size_t>(lists.size(), 0)).bytes,
                        most = total_of(lists, last).bytes;
    for (std::uint64_t part = 0; part <= 10; ++part) {
      const std::uint64_t budget = least + (most - least) * part / 10;
      const auto choice = least_error(lists, budget);
      ASSERT_TRUE(choice);
      const Total total = total_of(lists, *choice);
      EXPECT_LE(total.bytes, budget);
      EXPECT_DOUBLE_EQ(total.error, best_of_all(lists, budget));
    }
    EXPECT_FALSE(least_error(lists, least - 1));
  }
  EXPECT_TRUE(least_error(Lists(), 0)->empty());
}

// A larger budget never increases the error, and thousands of lists stay within the budget.
TEST(Knapsack, ManyListsKeepToTheBudget) {
  const Lists lists = random_lists(testing::kCountsMemory ? 1500 : 50, 1);
  const std::uint64_t least = total_of(lists, std::vector<std::size_t>(lists.size(), 0)).bytes;
  double last = std::numeric_limits<double>::infinity();
  for (const std::uint64_t budget : {least, least * 5 / 4, least * 2, least * 10}) {
    const auto choice = least_error(lists, budget);
    ASSERT_TRUE(choice);
    const Total total = total_of(lists, *choice);
    EXPECT_LE(total.bytes, budget);
    EXPECT_LT(total.error, last);
    last = total.error;
    EXPECT_TRUE(least_error(lists, budget) == choice);
  }
}

// The least error if fractions of steps could be taken: no choice can be better.
double bound_of(const Lists& lists, std::uint64_t budget) {
  struct Step {
    double bytes, saved;
  };
  std::vector<Step> steps;
  double error = 0, left = static_cast<double>(budget);
  for (const auto& list : lists) {
    error += list.front().error;
    left -= static_cast<double>(list.front().bytes);
    std::vector<Step> hull;
    for (std::size_t i = 1; i < list.size(); ++i) {
      Step step = {static_cast<double>(list[i].bytes - list[i - 1].bytes), list[i - 1].error - list[i].error};
      while (!hull.empty() && step.saved * hull.back().bytes >= hull.back().saved * step.bytes) {
        step = {step.bytes + hull.back().bytes, step.saved + hull.back().saved};
        hull.pop_back();
      }
      hull.push_back(step);
    }
    steps.insert(steps.end(), hull.begin(), hull.end());
  }
  std::ranges::sort(steps, [](const Step& a, const Step& b) { return a.saved * b.bytes > b.saved * a.bytes; });
  for (const Step& step : steps) {
    const double part = std::clamp(left / step.bytes, 0.0, 1.0);
    error -= part * step.saved;
    left -= part * step.bytes;
  }
  return error;
}

TEST(Knapsack, ManyListsAreNearTheBound) {
  const Lists lists = random_lists(1500, 2);
  const std::uint64_t least = total_of(lists, std::vector<std::size_t>(lists.size(), 0)).bytes,
                      most = total_of(lists, std::vector<std::size_t>(lists.size(), 4)).bytes;
  for (const std::uint64_t part : {1, 3, 5}) {
    const std::uint64_t budget = least + (most - least) * part / 10;
    const auto choice = least_error(lists, budget);
    ASSERT_TRUE(choice);
    const double bound = bound_of(lists, budget), found = total_of(lists, *choice).error;
    EXPECT_GE(found, bound * (1 - 1e-9));
    EXPECT_LE(found, bound * 1.001);
  }
}

TEST(Knapsack, OnlyStepsThatSaveAreWorthPaying) {
  const Price prices[] = {{10, 4}, {10, 5}, {12, 5}, {13, 3}, {14, 3}, {20, 0}};
  EXPECT_EQ(worth_paying(prices), (std::vector<std::size_t>{0, 3, 5}));
}

}  // namespace
}  // namespace tare::recipe
