#include "resources/piece_merges.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/name_map.hpp"
#include "resources/byte_alphabet.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

constexpr std::size_t kLongestPiece = 256;  // trainers stop at 16 characters; anything longer is not a piece
constexpr std::size_t kMostBlanks = 32;     // most runs of blanks tried in a merge; one of them separates its halves
// Bounds the memory of all merges: trained vocabularies have two or three for each piece, crafted ones one for every
// byte of it.
constexpr std::size_t kMergeBytes = std::size_t{8} << 20, kMergeBytesPerByte = 16;

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Beyond this, consecutive ranks are the same float.
constexpr std::size_t kMostRanks = std::size_t{1} << 24;

// The normal pieces that are not too long, best score first.
std::vector<const Token*> by_rank(const Vocabulary& vocabulary) {
  std::vector<const Token*> pieces;
  for (const Token& token : vocabulary.tokens)
    if (token.type == TokenType::normal && token.text.size() <= kLongestPiece) pieces.push_back(&token);
  std::ranges::stable_sort(pieces, std::ranges::greater(), [](const Token* token) { return token->score; });
  return pieces;
}

// Merges the bytes of a piece in order of rank, below its own, and returns where the last two parts meet. Returns 0 if
// more than two parts are left: then no merge makes the piece.
std::size_t last_cut(std::string_view piece, std::size_t own_rank, const NameViewMap<std::size_t>& ranks) {
  std::vector<std::size_t> starts;  // starts of the parts, and the end
  for (std::size_t i = 0; i <= piece.size(); ++i) starts.push_back(i);
  // The rank of the merge of a part with the next; own_rank if there is no such merge.
  const auto rank_at = [&](std::size_t part) {
    if (part + 2 >= starts.size()) return own_rank;
    const auto found = ranks.find(piece.substr(starts[part], starts[part + 2] - starts[part]));
    return found == ranks.end() ? own_rank : std::min(found->second, own_rank);
  };
  std::vector<std::size_t> pair_ranks;
  for (std::size_t part = 0; part + 1 < starts.size(); ++part) pair_ranks.push_back(rank_at(part));
  while (starts.size() > 3) {
    const auto best = std::ranges::min_element(pair_ranks);
    if (*best == own_rank) return 0;
    const auto part = best - pair_ranks.begin();
    starts.erase(starts.begin() + part + 1);
    pair_ranks.erase(best);
    pair_ranks[static_cast<std::size_t>(part)] = rank_at(static_cast<std::size_t>(part));
    if (part > 0) pair_ranks[static_cast<std::size_t>(part) - 1] = rank_at(static_cast<std::size_t>(part) - 1);
  }
  return starts.size() == 3 ? starts[1] : 0;
}

}  // namespace

bool is_ranked(const Vocabulary& vocabulary) {
  const auto is_piece = [](const Token& token) { return token.type == TokenType::normal; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(vocabulary.tokens, is_piece));
  std::vector<bool> taken(count);
  for (const Token& token : vocabulary.tokens) {
    if (!is_piece(token)) continue;
    const float rank = -token.score;
    if (!(rank >= 0 && rank < static_cast<float>(count)) || rank != std::trunc(rank)) return false;
    if (taken[static_cast<std::size_t>(rank)]) return false;
    taken[static_cast<std::size_t>(rank)] = true;
  }
  return count > 1;
}

bool rank_by_merges(Vocabulary& vocabulary) {
  if (vocabulary.tokens.size() > kMostRanks) return false;
  NameViewMap<Token*> pieces;
  for (Token& token : vocabulary.tokens) {
    if (token.score != 0) return false;
    if (token.type == TokenType::normal) pieces.emplace(token.text, &token);
  }
  // Finds the piece that a merge makes: spelled as the tokens are, or in the byte-level alphabet. A part may contain
  // blanks.
  const auto made_by = [&](const std::string& merge) -> Token* {
    std::size_t tries = kMostBlanks;
    for (std::size_t blank = merge.find(' '); blank != merge.npos; blank = merge.find(' ', blank + 1)) {
      if (blank > 0 && merge[blank - 1] == ' ') continue;  // joins to the same text as the blank before it
      if (tries-- == 0) break;
      const std::string joined = merge.substr(0, blank) + merge.substr(blank + 1);
      auto found = pieces.find(joined);
      if (found == pieces.end())
        if (const auto bytes = from_byte_alphabet(joined)) found = pieces.find(*bytes);
      if (found != pieces.end()) return found->second;
    }
    return nullptr;
  };
  std::unordered_set<const Token*> ranked;
  std::size_t rank = 0;
  for (const std::string& merge : vocabulary.merges) {
    Token* const piece = made_by(merge);
    if (piece != nullptr && ranked.insert(piece).second) piece->score = -static_cast<float>(rank++);
  }
  if (rank == 0) return false;
  for (Token& token : vocabulary.tokens)
    if (token.type == TokenType::normal && !ranked.contains(&token)) token.score = -static_cast<float>(rank++);
  return true;
}

std::vector<std::string> merges_of_ranked(const Vocabulary& vocabulary) {
  NameViewSet pieces;
  for (const Token& token : vocabulary.tokens)
    if (token.type == TokenType::normal && token.text.size() <= kLongestPiece) pieces.insert(token.text);
  std::size_t room = kMergeBytes;
  for (const Token& token : vocabulary.tokens) room += kMergeBytesPerByte * token.text.size();
  std::vector<std::string> merges;
  for (const Token* const token : by_rank(vocabulary)) {
    const std::string_view piece = token->text;
    for (std::size_t cut = piece.size(); cut-- > 1;) {
      const std::string_view left = piece.substr(0, cut), right = piece.substr(cut);
      if (!starts_character(right.front()) || !pieces.contains(left) || !pieces.contains(right)) continue;
      if (piece.size() + 1 > room)
        throw Error(ErrorKind::limit, "tokenizer.merges",
                    "the pieces of the vocabulary can be made of each other in too many ways to list them all as "
                    "merges")
            .remedy(Remedy::drop, "vocabulary");
      room -= piece.size() + 1;
      merges.push_back(std::string(left).append(" ").append(right));
    }
  }
  return merges;
}

std::vector<std::string> byte_merges_of_ranked(const Vocabulary& vocabulary) {
  NameViewMap<std::size_t> ranks;
  const std::vector<const Token*> pieces = by_rank(vocabulary);
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) ranks.emplace(pieces[rank]->text, rank);
  std::vector<std::string> merges;
  for (std::size_t rank = 0; rank < pieces.size(); ++rank)
    if (const std::size_t cut = last_cut(pieces[rank]->text, rank, ranks); cut > 0) {
      const std::string_view piece = pieces[rank]->text;
      merges.push_back(to_byte_alphabet(piece.substr(0, cut)) + " " + to_byte_alphabet(piece.substr(cut)));
    }
  return merges;
}

std::string with_plain_blanks(std::string_view piece) {
  constexpr std::string_view kBlank = "\xE2\x96\x81";
  std::string text;
  for (std::size_t at = piece.find(kBlank); at != piece.npos; at = piece.find(kBlank)) {
    text.append(piece.substr(0, at)) += ' ';
    piece.remove_prefix(at + kBlank.size());
  }
  return text.append(piece);
}

bool have_same_text(const Token& a, const Token& b) {
  if (a.text == b.text) return true;
  const bool defined = a.type == TokenType::user_defined || b.type == TokenType::user_defined;
  return defined && with_plain_blanks(a.text) == with_plain_blanks(b.text);
}

}  // namespace tare::resources
