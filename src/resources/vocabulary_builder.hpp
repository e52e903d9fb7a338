// Tokens in the order of their ids, from files that name them in any order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tare/vocabulary.hpp"

namespace tare::resources {

class VocabularyBuilder {
 public:
  // A later token of the same id replaces the earlier one.
  void add(std::uint64_t id, Token token) { entries_.push_back({id, std::move(token)}); }
  // Throws `tokenizer.ids` when two of the tokens so far are different and have the same id.
  void check_unique() const;
  // The tokens by id, from `first` on (there must be none below); ids that nobody named are `unused` and empty. Throws
  // `tokenizer.ids` when they are spread out so far that the gaps would take more room than the tokens.
  std::vector<Token> finish(std::uint64_t first = 0);

 private:
  struct Entry {
    std::uint64_t id;
    Token token;
  };
  std::vector<Entry> entries_;
};

// "<0x0A>", how SentencePiece spells a byte for which there is no other token.
bool is_byte_token(const std::string& text);

}  // namespace tare::resources
