// What is done to a text before it is split.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tokenize/rules.hpp"

namespace tare::tokenize {

// What a text may cost, by its length.
struct TextBudget {
  explicit TextBudget(std::size_t bytes)
      : steps(Pattern::steps_for(bytes)), longest((std::size_t{1} << 20) + 64 * bytes) {}

  std::uint64_t steps;  // that patterns may take
  std::size_t longest;  // bytes of a rewritten text: characters become at most 18 others, a blank three bytes
  // Throws limit `tokenizer.text`.
  void check(std::size_t bytes) const;
};

class NormalizerChain {
 public:
  // Keeps nothing of the rules. Throws corrupt `tokenizer.charsmap`.
  explicit NormalizerChain(const std::vector<Normalizer>& steps);
  // `text` is valid UTF-8 unless the first step takes any bytes, and so is the result. Throws limit `tokenizer.text` if it grows too long.
  std::string apply(std::string text, TextBudget& budget) const;

  class Step;

 private:
  std::vector<std::shared_ptr<const Step>> steps_;
};

}  // namespace tare::tokenize
