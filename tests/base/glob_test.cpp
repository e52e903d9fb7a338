#include <gtest/gtest.h>

#include <clocale>
#include <string>

#include "base/budget.hpp"
#include "conformance/scratch.hpp"
#include "tare/convert.hpp"

namespace tare {
namespace {

TEST(Glob, WithoutWildcardsIsAWholeName) {
  EXPECT_TRUE(glob_match("a.b", "a.b"));
  EXPECT_FALSE(glob_match("a.b", "a.bc"));
  EXPECT_FALSE(glob_match("a.b", "xa.b"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_FALSE(glob_match("a", ""));
}

TEST(Glob, AStarIsAnyRunAlsoOfDotsAndSlashes) {
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*", "a/b.c"));
  EXPECT_TRUE(glob_match("*.weight", ".weight"));
  EXPECT_TRUE(glob_match("model.*.weight", "model.layers.0.weight"));
  EXPECT_FALSE(glob_match("model.*.weight", "model.weight"));
  EXPECT_TRUE(glob_match("**a**", "xxaxx"));
  EXPECT_TRUE(glob_match("*ab*ab*", "abxab"));
  EXPECT_FALSE(glob_match("*ab*ab*", "abxa"));
}

TEST(Glob, AQuestionMarkIsOneByteWhateverTheLocale) {
  EXPECT_TRUE(glob_match("l.?", "l.7"));
  EXPECT_FALSE(glob_match("l.?", "l."));
  EXPECT_FALSE(glob_match("l.?", "l.77"));
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"C", "C.UTF-8", "en_US.UTF-8"}) {
    if (std::setlocale(LC_ALL, locale) == nullptr) continue;
    EXPECT_TRUE(glob_match("??", "\xC3\xA9"));  // e with an acute accent
    EXPECT_FALSE(glob_match("?", "\xC3\xA9"));
    EXPECT_TRUE(glob_match("a?", "a\xFF"));  // is not valid text
    EXPECT_FALSE(glob_match("[a-z]", "B"));
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Glob, SetsRangesAndTheirNegation) {
  EXPECT_TRUE(glob_match("l.[0-3]", "l.2"));
  EXPECT_FALSE(glob_match("l.[0-3]", "l.4"));
  EXPECT_TRUE(glob_match("[!a]", "b"));
  EXPECT_TRUE(glob_match("[^a]", "b"));
  EXPECT_FALSE(glob_match("[!a]", "a"));
  EXPECT_TRUE(glob_match("[]x]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("[a\\]b]", "]"));
  EXPECT_TRUE(glob_match("[\x80-\xFF]", "\xC3"));
  EXPECT_TRUE(glob_match("[ab", "[ab"));  // never closed, so it is an ordinary character
  EXPECT_FALSE(glob_match("[ab", "a"));
}

TEST(Glob, ABackslashTakesTheNextByteAsItIs) {
  EXPECT_TRUE(glob_match("a\\*", "a*"));
  EXPECT_FALSE(glob_match("a\\*", "ab"));
  EXPECT_TRUE(glob_match("\\[a]", "[a]"));
  EXPECT_TRUE(glob_match("a\\", "a\\"));
}

TEST(Glob, ANameMayHaveZeroBytes) {
  EXPECT_TRUE(glob_match("a*b", std::string_view("a\0b", 3)));
  EXPECT_TRUE(glob_match("a?b", std::string_view("a\0b", 3)));
}

// Takes exponential time in a matcher that backtracks to every star.
TEST(Glob, ManyStarsTakeNoTime) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(2000, 'a')));
}

TEST(Glob, WhatIsComparedIsChargedToTheBudget) {
  const Spending spending({.steps = 1000});
  EXPECT_TRUE(glob_match("a*", std::string(2000, 'a')));
  const std::string name(2000, 'a');
  EXPECT_EQ(testing::rule_of([&] { static_cast<void>(glob_match("*" + name.substr(1000) + "b", name)); }),
            "open.steps");
  const std::string set = "[" + std::string(2000, 'b');
  EXPECT_EQ(testing::rule_of([&] { static_cast<void>(glob_match("*" + set + "]", name)); }), "open.steps");
  EXPECT_EQ(testing::rule_of([&] { static_cast<void>(glob_match("*" + set, name)); }), "open.steps");
}

}  // namespace
}  // namespace tare
