// Tokens in the order of their ids, from files that name them in any order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tare/vocabulary.hpp"

namespace tare::resources {

class VocabularyBuilder {
 public:
  // `count`: how many tokens will be added. `first`: the lowest id; nobody may add one below it.
  explicit VocabularyBuilder(std::size_t count, std::uint64_t first = 0);
  // Replaces an earlier token of the same id. Throws `tokenizer.ids` when the id is so large that the gaps before it
  // would take more memory than the tokens.
  void add(std::uint64_t id, Token token);
  // The same, but throws `tokenizer.ids` when an earlier token of the same id has another text.
  void add_unique(std::uint64_t id, Token token);
  // The tokens from `first` on. An id that was never added is `unused` and empty.
  std::vector<Token> finish() { return std::move(tokens_); }

 private:
  Token& place_of(std::uint64_t id);

  std::size_t count_;
  std::uint64_t first_;
  std::vector<Token> tokens_;
};

// "<0x0A>", how SentencePiece spells a byte for which there is no other token.
bool is_byte_token(const std::string& text);

}  // namespace tare::resources
