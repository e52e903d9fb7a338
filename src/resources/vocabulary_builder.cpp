#include "resources/vocabulary_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tare/error.hpp"

namespace tare::resources {

std::vector<Token> VocabularyBuilder::finish() {
  std::uint64_t highest = 0;
  for (const Entry& entry : entries_) highest = std::max(highest, entry.id);
  const std::uint64_t most = 2 * entries_.size() + 1024;
  if (highest >= most)
    throw Error(
        ErrorKind::corrupt, "tokenizer.ids",
        fmt::format("{} tokens, one of them with the id {}: that leaves too many gaps", entries_.size(), highest));
  std::vector<Token> tokens;
  if (entries_.empty()) return tokens;
  tokens.resize(static_cast<std::size_t>(highest) + 1, Token{{}, 0, TokenType::unused});
  for (Entry& entry : entries_) tokens[static_cast<std::size_t>(entry.id)] = std::move(entry.token);
  entries_.clear();
  return tokens;
}

bool is_byte_token(const std::string& text) {
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' &&
         std::isxdigit(static_cast<unsigned char>(text[3])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(text[4])) != 0;
}

}  // namespace tare::resources
