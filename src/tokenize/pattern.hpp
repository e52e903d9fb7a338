// The regular expressions by which tokenizers split a text: the part of Oniguruma's syntax that they use, matched by
// backtracking in the same order.
//
//   literals   \p{L} \P{L} \p{^L} \s \S \d \D \w \W \h \r \n \t \uXXXX \x{X}   .   [a-z\p{L}&&[^x]]
//   (?:x) (x) (?i:x) (?>x) (?=x) (?!x) (?<=c) (?<!c) ^ $ \A \z \b \B   x|y   x* x+ x? x{m,n}, each also lazy; *+ ++ ?+
//
// A pattern comes from a file, so everything is bounded: compiling charges the budget of the thread for each instruction and
// each part of a set, matching a TextBudget for each instruction. Anything else, a repetition of what can be empty, and
// letters that equal several if case does not count, such as U+00DF, are refused.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenize/text_budget.hpp"

namespace tare::tokenize {

class Pattern {
 public:
  // Throws unsupported `tokenizer.pattern`.
  explicit Pattern(std::string_view regex);
  // The pattern that matches exactly this text.
  static Pattern literal(std::string_view text);

  // Whether a match may be empty. False only if none is.
  bool may_be_empty() const;

  struct Match {
    std::size_t begin, end;
  };
  // The matches in a text that is valid UTF-8, one after the other, as Oniguruma's iterator in the tokenizers library gives
  // them: a match may be empty, but not where the one before it ends, and an empty text has none.
  class Search {
   public:
    // Keeps references.
    Search(const Pattern& pattern, std::string_view text, TextBudget& budget);
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    ~Search();
    // Throws what TextBudget throws.
    std::optional<Match> next();

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  struct Program;

 private:
  Pattern() = default;
  std::shared_ptr<const Program> program_;
};

}  // namespace tare::tokenize
