#include "resources/vocabulary_builder.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::resources {

namespace {

// Returns whether no token was added with this id yet.
bool is_free(const Token& token) { return token.type == TokenType::unused && token.text.empty(); }

}  // namespace

VocabularyBuilder::VocabularyBuilder(std::size_t count, std::uint64_t first) : count_(count), first_(first) {
  tokens_.reserve(count);
}

Token& VocabularyBuilder::place_of(std::uint64_t id) {
  const std::uint64_t most = 2 * std::uint64_t{count_} + 1024;
  if (id - first_ >= most)
    throw Error(ErrorKind::corrupt, "tokenizer.ids",
                fmt::format("{} tokens, one of them with the id {}: that leaves too many gaps", count_, id));
  const auto place = id - first_;
  if (place >= tokens_.size()) tokens_.resize(place + 1, Token{{}, 0, TokenType::unused});
  return tokens_[place];
}

void VocabularyBuilder::add(std::uint64_t id, Token token) { place_of(id) = std::move(token); }

void VocabularyBuilder::add_unique(std::uint64_t id, Token token) {
  Token& place = place_of(id);
  if (!is_free(place) && place.text != token.text)
    throw Error(ErrorKind::corrupt, "tokenizer.ids",
                fmt::format("\"{}\" and \"{}\" both have the id {}", quote(place.text), quote(token.text), id));
  place = std::move(token);
}

bool is_byte_token(const std::string& text) {
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' &&
         std::isxdigit(static_cast<unsigned char>(text[3])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(text[4])) != 0;
}

}  // namespace tare::resources
