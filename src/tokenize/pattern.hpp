// The regular expressions by which tokenizers split a text: the part of Oniguruma's syntax that they use, matched by
// backtracking in the same order.
//
//   literals   \p{L} \P{L} \p{^L} \s \S \d \D \w \W \h \r \n \t \uXXXX \x{X}   .   [a-z\p{L}&&[^x]]
//   (?:x) (x) (?i:x) (?>x) (?=x) (?!x) (?<=c) (?<!c) ^ $ \A \z \b \B   x|y   x* x+ x? x{m,n}, each also lazy; *+ ++ ?+
//
// A pattern comes from a file, so everything is bounded: the size of its program when it is compiled, and the steps and
// the memory of matching. Anything else, and a repetition of what can be empty, is refused.
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

  struct Match {
    std::size_t begin, end;
  };
  // The first match that is not empty and begins at `from` or later, in a text that is valid UTF-8. Throws what
  // TextBudget throws.
  std::optional<Match> find(std::string_view text, std::size_t from, TextBudget& budget) const;

  struct Program;

 private:
  Pattern() = default;
  std::shared_ptr<const Program> program_;
};

}  // namespace tare::tokenize
