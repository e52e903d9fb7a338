// Sizes as users write them; the command and Python give them the same meaning.
#include "base/sizes.hpp"

#include <gtest/gtest.h>

namespace tare {
namespace {

TEST(Sizes, LettersArePowersOfThousandUnlessTheySayOtherwise) {
  EXPECT_EQ(parse_size("17"), 17U);
  EXPECT_EQ(parse_size("17B"), 17U);
  EXPECT_EQ(parse_size("1K"), 1000U);
  EXPECT_EQ(parse_size("1M"), 1'000'000U);
  EXPECT_EQ(parse_size("1mb"), 1'000'000U);
  EXPECT_EQ(parse_size("1MiB"), std::uint64_t{1} << 20);
  EXPECT_EQ(parse_size("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(parse_size("1.5 GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(parse_size("2TiB"), std::uint64_t{2} << 40);
}

TEST(Sizes, AnythingElseIsNone) {
  for (const char* const text : {"", "B", "GB", "-1", "1.5.5", "1X", "1Mi", "1MBit", "5 apples", "inf", "nan", "1e400",
                                 "99999999999999999999", "9999TiB"})
    EXPECT_FALSE(parse_size(text).has_value()) << text;
}

}  // namespace
}  // namespace tare
