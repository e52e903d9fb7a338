// What is done to a text before it is split.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tokenize/rules.hpp"
#include "tokenize/text_budget.hpp"

namespace tare::tokenize {

class NormalizerChain {
 public:
  // Keeps nothing of the rules. Throws corrupt `tokenizer.charsmap`.
  explicit NormalizerChain(const std::vector<Normalizer>& steps);
  // `text` is valid UTF-8 unless the first step takes any bytes, and so is the result. `keeps_beginning` becomes false if
  // the first character of the text is removed, as the tokenizers library sees it. Throws what TextBudget throws.
  std::string apply(std::string text, TextBudget& budget, bool& keeps_beginning) const;

  class Step;

 private:
  std::vector<std::shared_ptr<const Step>> steps_;
};

}  // namespace tare::tokenize
