#include "cli/text.hpp"

#include <gtest/gtest.h>

namespace tare::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Nearest, TypingMistakes) {
  EXPECT_EQ(nearest("q4km", Words{"q4_k", "q4_k_m", "q4"}, 1), Words{"q4_k_m"});
  EXPECT_EQ(nearest("ggfu", Words{"zt", "gguf"}, 1), Words{"gguf"});
  EXPECT_EQ(nearest("zip", Words{"zt", "npz"}, 1), Words());
}

// Names come from files: a hint must not cost more than a moment, however many and long they are.
TEST(Nearest, StopsAfterSomeWork) {
  const std::string word(900, 'a'), similar = std::string(899, 'a') + 'b';
  Words names(1000, std::string(900, 'c'));
  names.back() = similar;
  EXPECT_EQ(nearest(word, names, 1), Words());
  names.front() = similar;
  EXPECT_EQ(nearest(word, names, 1), Words{similar});
}

}  // namespace
}  // namespace tare::cli
