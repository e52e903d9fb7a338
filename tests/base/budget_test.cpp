#include "base/budget.hpp"

#include <gtest/gtest.h>

#include "conformance/scratch.hpp"
#include "wire/json.hpp"

namespace tare {
namespace {

TEST(Budget, IsOneForEverythingBelowTheOutermost) {
  EXPECT_EQ(current_budget(), nullptr);
  charge_values(UINT64_MAX);  // without a budget nothing is counted
  const Spending outer({.values = 10});
  charge_values(6);
  {
    const Spending inner({.values = 1000});
    EXPECT_EQ(testing::rule_of([] { charge_values(5); }), "open.values");
    charge_values(4);
  }
  EXPECT_EQ(testing::rule_of([] { charge_values(); }), "open.values");
}

TEST(Budget, BytesOfAFileCountOnce) {
  const Spending spending({.values = 0, .steps = 0, .bytes = 0});
  Budget& budget = *current_budget();
  for (int i = 0; i < 5; ++i) budget.grant_file(1, 2, 400);
  charge_values(40);
  charge_steps(1600);
  charge_bytes(3200);
  EXPECT_EQ(testing::rule_of([] { charge_values(); }), "open.values");
  EXPECT_EQ(testing::rule_of([] { charge_steps(); }), "open.steps");
  EXPECT_EQ(testing::rule_of([] { charge_bytes(1); }), "open.bytes");
  budget.grant_file(1, 3, 20);
  charge_values(2);
}

// Weights may be many, or holes that cost nothing; that does not allow more metadata.
TEST(Budget, GrantsEnd) {
  const Spending spending({.values = 0, .steps = 0, .bytes = 0});
  current_budget()->grant(UINT64_MAX);
  current_budget()->grant(UINT64_MAX);
  charge_values((std::uint64_t{256} << 20) / 10);
  EXPECT_EQ(testing::rule_of([] { charge_values(); }), "open.values");
}

TEST(Budget, ValuesThatAreLetGoComeBackAsSteps) {
  const Spending spending({.values = 4, .steps = 10});
  for (int i = 0; i < 3; ++i) {
    Budget::TemporaryCharge temporary(current_budget());
    wire::TreeBounds bounds;
    EXPECT_EQ(wire::read_json("[1,2]", bounds).get<List>()->size(), 2u);
    temporary.charge();
  }
  EXPECT_EQ(testing::rule_of([] {
              Budget::TemporaryCharge temporary(current_budget());
              charge_values(2);
              temporary.charge();
            }),
            "open.steps");
  charge_values(4);
}

}  // namespace
}  // namespace tare
