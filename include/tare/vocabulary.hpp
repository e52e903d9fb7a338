// The tokenizer's vocabulary: token bytes, scores and types, merges, special ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/export.hpp"
#include "tare/value.hpp"

namespace tare {

enum class TokenType : std::uint8_t { normal, unknown, control, user_defined, unused, byte, bos, eos, pad };
inline constexpr TokenType kAllTokenTypes[] = {TokenType::normal,       TokenType::unknown, TokenType::control,
                                               TokenType::user_defined, TokenType::unused,  TokenType::byte,
                                               TokenType::bos,          TokenType::eos,     TokenType::pad};
[[nodiscard]] TARE_API std::string_view name_of(TokenType type);
// The type with this name; nothing if there is none.
[[nodiscard]] TARE_API std::optional<TokenType> parse_token_type(std::string_view name);

struct Token {
  std::string text;  // any bytes, not necessarily UTF-8
  float score = 0;
  TokenType type = TokenType::normal;
  // Two NaN scores are equal.
  friend bool operator==(const Token& a, const Token& b) {
    return a.text == b.text && a.type == b.type && (a.score == b.score || (a.score != a.score && b.score != b.score));
  }
};

struct TARE_API Vocabulary {
  std::string kind;  // "spm", "bpe", "unigram", "wordpiece", "wordlevel"; empty if unknown; UTF-8
  std::vector<Token> tokens;
  std::vector<std::string> merges;  // "left right", in order of rank
  std::int64_t bos = -1, eos = -1, pad = -1, unk = -1;

  // If true, the ids above have no meaning, and containers need not keep them.
  bool empty() const { return tokens.empty() && merges.empty(); }
  // The whole vocabulary as a metadata value, for containers with private keys, and back. A malformed map throws Error
  // corrupt `vocabulary.malformed`.
  [[nodiscard]] Map to_map() const;
  [[nodiscard]] static Vocabulary from_map(const Map& map);
  friend bool operator==(const Vocabulary&, const Vocabulary&) = default;
};

// Selects the tokens that meet all given conditions.
struct TokenQuery {
  std::optional<std::string> text = std::nullopt;  // exactly these bytes
  std::string part = {};                           // contains these bytes
  std::optional<TokenType> type = std::nullopt;
};

// The ids of the selected tokens, in order. Several tokens may have the same text.
[[nodiscard]] TARE_API std::vector<std::size_t> find_tokens(const Vocabulary& vocabulary, const TokenQuery& query);

}  // namespace tare
