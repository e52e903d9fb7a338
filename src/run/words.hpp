// The tokens of a text, as it is measured.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/run.hpp"

namespace tare::run {

// With the tokens before the text, but not those after it: as llama.cpp does to measure a perplexity.
std::vector<std::int32_t> tokens_of_text(const Tokenizer& tokenizer, std::string_view text);
// With the token that begins each piece, unless the caller named one.
Options options_for(const Tokenizer& tokenizer, Options options);
// Null: the model has no vocabulary, or one of which Tare makes no tokens.
const Tokenizer* tokenizer_if_any(const Scorer& scorer);
// "xxh3-128:...", of the bytes of a text, and of tokens as 32-bit integers.
std::string digest_of_text(std::string_view text);
std::string digest_of_tokens(std::span<const std::int32_t> tokens);

}  // namespace tare::run
