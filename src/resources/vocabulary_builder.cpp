#include "resources/vocabulary_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::resources {

void VocabularyBuilder::check_unique() const {
  std::vector<const Entry*> sorted;
  sorted.reserve(entries_.size());
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) { return a->id < b->id; });
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) {
    return a->id == b->id && a->token.text != b->token.text;
  });
  if (twice != sorted.end())
    throw Error(ErrorKind::corrupt, "tokenizer.ids",
                fmt::format("\"{}\" and \"{}\" both have the id {}", quote((*twice)->token.text),
                            quote((*std::next(twice))->token.text), (*twice)->id));
}

std::vector<Token> VocabularyBuilder::finish(std::uint64_t first) {
  std::uint64_t highest = first;
  for (const Entry& entry : entries_) highest = std::max(highest, entry.id);
  const std::uint64_t most = 2 * entries_.size() + 1024;
  if (highest - first >= most)
    throw Error(
        ErrorKind::corrupt, "tokenizer.ids",
        fmt::format("{} tokens, one of them with the id {}: that leaves too many gaps", entries_.size(), highest));
  std::vector<Token> tokens;
  if (entries_.empty()) return tokens;
  tokens.resize(static_cast<std::size_t>(highest - first) + 1, Token{{}, 0, TokenType::unused});
  for (Entry& entry : entries_) tokens[static_cast<std::size_t>(entry.id - first)] = std::move(entry.token);
  entries_.clear();
  return tokens;
}

bool is_byte_token(const std::string& text) {
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' &&
         std::isxdigit(static_cast<unsigned char>(text[3])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(text[4])) != 0;
}

}  // namespace tare::resources
