// The regular expressions that split texts.
#include "tokenize/pattern.hpp"

#include <gtest/gtest.h>

#include "tare/error.hpp"

namespace tare::tokenize {
namespace {

// The matches, separated by |.
std::string matches(std::string_view regex, std::string_view text) {
  const Pattern pattern(regex);
  TextBudget budget = TextBudget::of_text(text.size());
  std::string all;
  std::size_t at = 0;
  while (const auto found = pattern.find(text, at, budget)) {
    all.append(all.empty() ? "" : "|").append(text.substr(found->begin, found->end - found->begin));
    at = found->end;
  }
  return all;
}

TEST(Pattern, Syntax) {
  EXPECT_EQ(matches("a|bc", "abcab"), "a|bc|a");
  EXPECT_EQ(matches("[a-c]+", "abxcd"), "ab|c");
  EXPECT_EQ(matches("[^a-c]+", "abxdc"), "xd");
  EXPECT_EQ(matches("[a-z&&[^b]]+", "abc"), "a|c");
  EXPECT_EQ(matches(R"([\p{L}--]+)", "a-b"), "a-b");
  EXPECT_EQ(matches(R"(\p{Lu}\p{Ll}*)", "HeLLo \xC3\x89t\xC3\xA9"), "He|L|Lo|\xC3\x89t\xC3\xA9");
  EXPECT_EQ(matches(R"(\p{^L}+|\P{N})", "a1b"), "a|1|b");
  EXPECT_EQ(matches(R"(\p{Han}+)",
                    "a\xE4\xBD\xA0\xE5\xA5\xBD"
                    "b"),
            "\xE4\xBD\xA0\xE5\xA5\xBD");
  EXPECT_EQ(matches(R"([\u4e00-\u9fa5]+|\x{61})", "a\xE4\xBD\xA0"), "a|\xE4\xBD\xA0");
  EXPECT_EQ(matches(R"(\d+|\s+|\w+)", "ab 12\t_"), "ab| |12|\t|_");
  EXPECT_EQ(matches("a{2}|a{1,3}b|c{2,}", "aaaabcccb"), "aa|aa|ccc");
  EXPECT_EQ(matches("(?i:'s|'LL)", "'S'll'\xC5\xBF"), "'S|'ll|'\xC5\xBF");
  EXPECT_EQ(matches("(?i)ab", "aBAb"), "aB|Ab");
  EXPECT_EQ(matches(R"(\s+(?!\S)|\s+)", "a   b "), "  | | ");
  EXPECT_EQ(matches(R"((?<=a)b|(?<!a)c)", "abcac"), "b|c");
  EXPECT_EQ(matches("a+?b|a+?", "aab"), "aab");
  EXPECT_EQ(matches("(?>a+)b|a++a|a", "aab"), "aab");
  EXPECT_EQ(matches("a++a", "aaa"), "");
  EXPECT_EQ(matches("(?:ab)+|(?:c|d){2}", "ababcdc"), "abab|cd");
  EXPECT_EQ(matches(R"(^a|b$|\bc\b|\Ad|e\z)", "a\nab\nc"), "a|a|b|c");
  EXPECT_EQ(matches(R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$)))", "1234567 12"), "1|234|567|12");
  EXPECT_EQ(matches(".+", "a\nb"), "a|b");
}

std::string refusal(std::string_view regex) {
  try {
    Pattern pattern{regex};
  } catch (const Error& error) {
    return error.rule();
  }
  return "none";
}

TEST(Pattern, Refused) {
  for (const char* const regex :
       {"(a", "a)", "[a", "*a", "a{2", "a{3,2}", "a{9999}", R"(\1)", R"(\p{Klingon})", R"(\p{L)", "(?<name>a)", "(a*)*",
        "(?:|a)+", R"(\q)", "[z-a]", "(?<=ab)c", "[[:alpha:]]", "\xFF"})
    EXPECT_EQ(refusal(regex), "tokenizer.pattern") << regex;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "(?:";
  EXPECT_EQ(refusal(deep), "tokenizer.pattern");
  EXPECT_EQ(refusal("((((a{1000}){1000}){1000}){1000})"), "tokenizer.pattern") << "its program would be long";
}

TEST(Pattern, StepsAreBounded) {
  const std::string text(5000, 'a');
  try {
    matches("(?:a|aa)+b|(?:a+a+)+b", text);
    FAIL() << "no pattern may take exponentially many steps";
  } catch (const Error& error) {
    EXPECT_EQ(error.rule(), "tokenizer.steps");
  }
}

// Ten times the text takes ten times the steps, for a pattern that real models have and what it does worst.
TEST(Pattern, KnownPatternsAreLinear) {
  const Pattern pattern(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  for (const char* const part : {" ", "a", "1", ".", "\n", " \n", "'", " a", "\t "}) {
    std::string text;
    while (text.size() < 20000) text += part;
    TextBudget budget = TextBudget::of_text(text.size());
    const std::uint64_t all = budget.steps_left();
    std::size_t at = 0;
    while (const auto found = pattern.find(text, at, budget)) at = found->end;
    EXPECT_LT(all - budget.steps_left(), 40 * text.size()) << '"' << part << '"';
  }
}

}  // namespace
}  // namespace tare::tokenize
