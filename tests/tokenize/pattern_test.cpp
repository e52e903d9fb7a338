// The regular expressions that split texts.
#include "tokenize/pattern.hpp"

#include <gtest/gtest.h>

#include "base/budget.hpp"
#include "tare/error.hpp"
#include "tokenize/case_folding.hpp"
#include "tokenize/character_set.hpp"

namespace tare::tokenize {
namespace {

// The matches, separated by |.
std::string matches(std::string_view regex, std::string_view text) {
  const Pattern pattern(regex);
  TextBudget budget = TextBudget::of_text(text.size());
  Pattern::Search search(pattern, text, budget);
  std::string all;
  bool first = true;
  while (const auto found = search.next()) {
    all.append(first ? "" : "|").append(text.substr(found->begin, found->end - found->begin));
    first = false;
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

// As the tokenizers library has them.
TEST(Pattern, MatchesOfNothing) {
  EXPECT_EQ(matches("a*", "baac"), "|aa|");
  EXPECT_EQ(matches("a*?", "baa"), "|||");
  EXPECT_EQ(matches("(?=a)", "baac"), "|");
  EXPECT_EQ(matches("|a", "aab"), "|||");
  EXPECT_EQ(matches(R"(\b)", "ab cd"), "|||");
  EXPECT_EQ(matches("", "\xC3\xA9"), "|");
  EXPECT_EQ(matches("", ""), "");
}

// As Oniguruma has it: letters and classes in brackets, but no other classes.
TEST(Pattern, CaseDoesNotCount) {
  EXPECT_EQ(matches("(?i)i", "iI\xC4\xB0\xC4\xB1"), "i|I") << "the Turkish ones are other letters";
  EXPECT_EQ(matches("(?i)\xCF\x83+", "\xCF\x83\xCF\x82\xCE\xA3"), "\xCF\x83\xCF\x82\xCE\xA3");
  EXPECT_EQ(matches("(?i)[k]", "kK\xE2\x84\xAA"), "k|K|\xE2\x84\xAA");
  EXPECT_EQ(matches(R"((?i)\p{Lu})", "aB"), "B");
  EXPECT_EQ(matches(R"((?i)[^\p{Lu}])", "aB1"), "1");
  EXPECT_EQ(matches("(?i)[^ba]+", "abXBA"), "X");
  EXPECT_EQ(matches("(?i)ss+|s(?:s)", "sS"), "sS");
}

TEST(Pattern, CaseOfAsciiIsThatOfTheTable) {
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    std::string all;
    for (const std::uint32_t c : CaseFolding::table().equal_to(static_cast<std::uint32_t>(letter)))
      append_character(all, c);
    EXPECT_EQ(matches("(?i)" + std::string(1, letter) + "+", all), all);
    CharacterSet set({{static_cast<std::uint32_t>(letter), static_cast<std::uint32_t>(letter)}});
    set.ignore_case();
    set.finish();
    std::string found;
    for (std::uint32_t c = 0; c < 0x3000; ++c)
      if (set.has(c)) append_character(found, c);
    EXPECT_EQ(found.size(), all.size());
    for (const std::uint32_t c : CaseFolding::table().equal_to(static_cast<std::uint32_t>(letter)))
      EXPECT_TRUE(set.has(c));
  }
}

TEST(Unicode, KindsAreTheClassesOfPatterns) {
  for (std::uint32_t c = 0; c <= CharacterSet::kLast; ++c) {
    const Kinds kind = kind_of(c);
    const auto is_in = [&](Kinds kinds) { return (kind & kinds) != 0; };
    ASSERT_EQ(is_in(white_space_kinds()), is_white_space(c)) << c;
    ASSERT_EQ(is_in(word_kinds()), is_word_character(c)) << c;
    const bool joins = c == 0x200C || c == 0x200D;
    const bool is_power_or_fraction = c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE);
    ASSERT_EQ(is_unicode_word_character(c), (is_word_character(c) && !is_power_or_fraction) || joins) << c;
    ASSERT_EQ(is_in(han_kinds()), is_han(c)) << c;
    ASSERT_TRUE(is_in(kinds_of(category_of(c)))) << c;
    ASSERT_FALSE(is_in(kinds_of(~category_of(c)))) << c;
  }
}

// As Oniguruma has it: not the joiners, but the powers and fractions of Latin 1.
TEST(Pattern, WordCharacters) {
  EXPECT_EQ(matches(R"(\w+)",
                    "a\xE2\x80\x8D"
                    "b"),
            "a|b");
  EXPECT_EQ(matches(R"(\b\w+)", "x\xC2\xBD\xE2\x82\x84"), "x\xC2\xBD");
}

TEST(Pattern, Refused) {
  for (const char* const regex : {"(a",
                                  "a)",
                                  "[a",
                                  "*a",
                                  "a{2",
                                  "a{3,2}",
                                  "a{9999}",
                                  R"(\1)",
                                  R"(\p{Klingon})",
                                  R"(\p{L)",
                                  "(?<name>a)",
                                  "(a*)*",
                                  "(?:|a)+",
                                  R"(\q)",
                                  "[z-a]",
                                  "(?<=ab)c",
                                  "[[:alpha:]]",
                                  "\xFF",
                                  "(?i)ss",
                                  "(?i)aFi",
                                  "(?i)\xC3\x9F",
                                  "(?i)[\xC3\x80-\xC3\xBF]",
                                  "(?i)[a[^b]]",
                                  R"((?i)[\p{L}]x)"})
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

// What a pattern asks for is charged when it is compiled.
TEST(Pattern, CompilingIsBounded) {
  const auto rule_with_steps = [](std::uint64_t steps, const std::string& regex) {
    const Spending spending({.values = 0, .steps = steps, .bytes = 0});
    return refusal(regex);
  };
  constexpr std::uint64_t kCaseSteps = 3000;  // all cased letters are compared with the set
  std::string patterns;
  for (char c = 'a'; c <= 'z'; ++c) patterns += std::string(R"((?i:[^\p{L})") + c + "])";
  EXPECT_EQ(rule_with_steps(26 * kCaseSteps, patterns), "open.steps");
  EXPECT_EQ(rule_with_steps(26 * 4 * kCaseSteps, patterns), "none");
  std::string same;
  for (int i = 0; i < 1000; ++i) same += R"((?i:[^\p{L}]))";
  EXPECT_EQ(rule_with_steps(26 * kCaseSteps, same), "none") << "a set that appears again is the same";
  std::string ranges = "[";
  for (std::uint32_t c = 0x4E00; c < 0x9E00; c += 2) append_character(ranges, c);
  EXPECT_EQ(rule_with_steps(5000, ranges + "]"), "open.steps");
}

// A set of ten thousand ranges costs little more than one of two.
TEST(Pattern, StepsDoNotDependOnTheSizeOfASet) {
  std::string many = "[";
  for (std::uint32_t c = 0x4E00; c < 0x9E00; c += 2) append_character(many, c);
  const std::string text = [] {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += "\xE4\xB8\x80";
    return all;
  }();
  const auto steps = [&](const std::string& regex) {
    const Pattern pattern(regex);
    TextBudget budget = TextBudget::of_text(text.size());
    const std::uint64_t all = budget.steps_left();
    Pattern::Search search(pattern, text, budget);
    while (search.next()) continue;
    return all - budget.steps_left();
  };
  EXPECT_LT(steps(many + "]+"), 4 * steps("[\xE4\xB8\x80]+"));
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
    Pattern::Search search(pattern, text, budget);
    while (search.next()) continue;
    EXPECT_LT(all - budget.steps_left(), 40 * text.size()) << '"' << part << '"';
  }
}

}  // namespace
}  // namespace tare::tokenize
