#include "arch/model_types.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tare::arch {
namespace {

TEST(ArchModelTypes, PartsAndPositions) {
  EXPECT_EQ(parts_of("gemma3"), Parts::language);
  EXPECT_EQ(parts_of("llama"), Parts::none);  // it has defaults
  EXPECT_EQ(parts_of("bert"), Parts::none);
  EXPECT_EQ(parts_of("unheard_of"), Parts::unknown);
  EXPECT_TRUE(has_no_rope("gpt2"));
  EXPECT_FALSE(has_no_rope("llama"));
  EXPECT_TRUE(shifts_pieces("bigbird_pegasus"));
  EXPECT_FALSE(shifts_pieces("t5"));
}

TEST(ArchModelTypes, FlagsAreOfOneTypeOrOfAllThatBeginSo) {
  const auto keys = [](std::string_view type) {
    std::vector<std::string_view> found;
    for (const TypeFlag& flag : type_flags())
      if (flag.is_of(type)) found.push_back(flag.key);
    return found;
  };
  EXPECT_EQ(keys("qwen3_moe"), (std::vector<std::string_view>{"use_sliding_window"}));
  EXPECT_EQ(keys("falcon"), (std::vector<std::string_view>{"multi_query"}));
  EXPECT_TRUE(keys("falcon_h1").empty());
  EXPECT_TRUE(std::ranges::all_of(type_keys(), [](const TypeKey& row) { return row.key != row.field; }));
}

}  // namespace
}  // namespace tare::arch
