#include "base/merge_runs.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace tare {
namespace {

using Item = std::pair<int, int>;  // key, number
bool before(const Item& a, const Item& b) { return a.first < b.first; }

TEST(MergeRuns, SortsAndKeepsTheOrderOfEqualItems) {
  std::mt19937 random(7);
  for (std::size_t count = 0; count < 70; ++count)
    for (const int keys : {1, 3, 1000}) {
      std::vector<Item> items;
      for (std::size_t i = 0; i < count; ++i)
        items.emplace_back(static_cast<int>(random() % static_cast<unsigned>(keys)), static_cast<int>(i));
      std::vector<Item> expected = items;
      std::ranges::stable_sort(expected, before);
      merge_runs(std::span(items), before);
      EXPECT_EQ(items, expected) << count << " " << keys;
    }
}

TEST(MergeRuns, TakesAsManyComparisonsAsThereAreRuns) {
  for (const auto& [runs, most] : {std::pair(1, 1), {2, 2}, {7, 4}, {8, 4}}) {
    constexpr int kCount = 8000;
    std::vector<int> items;
    for (int run = 0; run < runs; ++run)
      for (int i = run; i < kCount; i += runs) items.push_back(i);
    int comparisons = 0;
    merge_runs(std::span(items), [&](int a, int b) {
      ++comparisons;
      return a < b;
    });
    EXPECT_TRUE(std::ranges::is_sorted(items));
    EXPECT_LE(comparisons, most * kCount) << runs;
  }
}

}  // namespace
}  // namespace tare
