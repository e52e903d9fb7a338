// The rules of a model's tokenizer, from its files or from the keys and the vocabulary of its container.
#pragma once

#include <string_view>

#include "tare/model.hpp"
#include "tokenize/rules.hpp"

namespace tare::tokenize {

// Throws what the constructor of Tokenizer throws.
Rules read_rules(const Model& model);

// Those of tokenizer.json.
Rules read_tokenizer_json(std::string_view text);
// Those of tokenizer.model or spiece.model, with the tokens of a model that may have more than the file.
Rules read_pieces(std::string_view tokenizer_model, const Vocabulary& vocabulary);

// A step of tokenizer.json as TokenizerRules spells it: "split REGEX", "bytes", "digits one by one".
Splitter splitter_of(std::string_view cut);
SplitBy byte_level_words();  // GPT-2's own

Error unknown_kind(std::string_view sentence);
Error unknown_step(std::string_view sentence);

// Sets `texts`, `scores`, `in_model`, `special` and `unknown` to those of a vocabulary.
void take_tokens(Rules& rules, const Vocabulary& vocabulary);
// Finds the ids of merges spelled "left right".
void take_merges(const Rules& rules, BytePairs& pairs, const std::vector<std::string>& merges);

}  // namespace tare::tokenize
