// Numbers of files as integers.
#include "base/whole.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tare {
namespace {

TEST(WholePart, OfAnyNumber) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  EXPECT_EQ(whole_part(3.9), 3);
  EXPECT_EQ(whole_part(-3.9), -3);
  EXPECT_EQ(whole_part(9007199254740992.0), 9007199254740992);
  EXPECT_EQ(whole_part(1e300), kMost);
  EXPECT_EQ(whole_part(-std::numeric_limits<double>::infinity()), -kMost);
  EXPECT_EQ(whole_part(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace tare
