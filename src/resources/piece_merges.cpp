#include "resources/piece_merges.hpp"

#include <algorithm>
#include <unordered_set>

namespace tare::resources {
namespace {

constexpr std::size_t kLongestPiece = 256;  // trainers stop at 16 characters; what is longer is no piece

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

}  // namespace

bool is_ranked(const Vocabulary& vocabulary) {
  std::size_t rank = 0;
  for (const Token& token : vocabulary.tokens) {
    if (token.type != TokenType::normal) continue;
    if (token.score != -static_cast<float>(rank)) return false;
    ++rank;
  }
  return rank > 1;
}

std::vector<std::string> merges_of_ranked(const Vocabulary& vocabulary) {
  std::unordered_set<std::string_view> pieces;
  for (const Token& token : vocabulary.tokens)
    if (token.type == TokenType::normal && token.text.size() <= kLongestPiece) pieces.insert(token.text);
  std::vector<std::string> merges;
  for (const Token& token : vocabulary.tokens) {
    const std::string_view piece = token.text;
    if (token.type != TokenType::normal || piece.size() > kLongestPiece) continue;
    for (std::size_t cut = piece.size(); cut-- > 1;) {
      const std::string_view left = piece.substr(0, cut), right = piece.substr(cut);
      if (!starts_character(right.front()) || !pieces.contains(left) || !pieces.contains(right)) continue;
      merges.push_back(std::string(left).append(" ").append(right));
    }
  }
  return merges;
}

}  // namespace tare::resources
