// vocab.txt of BERT and its relatives: one token per line; its id is the line number from 0. Pieces that continue a
// word begin with "##". fairseq's dictionaries have the same name, but a token and its count per line, and ids that do
// not begin at 0: they are refused.
#include <fmt/format.h>

#include <algorithm>

#include "base/lookalike.hpp"
#include "base/text.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// A token takes dozens of bytes in memory, a line as few as one: allow this many lines, plus one for every four bytes.
constexpr std::size_t kMostTokens = std::size_t{1} << 18, kBytesPerToken = 4;

struct SpecialWord {
  std::string_view text;
  TokenType type;
  std::int64_t Vocabulary::*member;  // null: Vocabulary has no such id
};
constexpr SpecialWord kSpecialWords[] = {
    {"[UNK]", TokenType::unknown, &Vocabulary::unk}, {"[PAD]", TokenType::pad, &Vocabulary::pad},
    {"[CLS]", TokenType::control, nullptr},          {"[SEP]", TokenType::control, nullptr},
    {"[MASK]", TokenType::control, nullptr},
};

bool is_token_and_count(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  return blank != std::string_view::npos && blank + 1 < line.size() &&
         line.find_first_not_of("0123456789", blank + 1) == std::string_view::npos;
}

void check(std::string_view text) {
  const auto refuse = [](std::string_view sentence) { return Error(ErrorKind::corrupt, "tokenizer.vocab", sentence); };
  if (const std::string_view known = lookalike(text); !known.empty()) throw refuse(known);
  if (!is_valid_utf8(text) || text.find('\0') != std::string_view::npos) throw refuse("not a list of words in UTF-8");
  if (is_token_and_count(text.substr(0, text.find_first_of("\r\n"))))
    throw refuse(
        "the first line is a word and a number: a dictionary of fairseq's, whose ids are not those of the lines");
}

std::size_t count_lines(std::string_view text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const std::size_t most = kMostTokens + text.size() / kBytesPerToken;
  if (lines > most)
    throw Error(ErrorKind::limit, "tokenizer.vocab",
                fmt::format("expected at most {} lines in {} bytes, found {}", most, text.size(), lines));
  return lines;
}

}  // namespace

Vocabulary parse_vocab_txt(std::string_view text) {
  check(text);
  Vocabulary vocabulary;
  vocabulary.kind = "wordpiece";
  vocabulary.tokens.reserve(count_lines(text));
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    Token token{std::string(line), 0, line.empty() ? TokenType::unused : TokenType::normal};
    for (const SpecialWord& word : kSpecialWords) {
      if (line != word.text) continue;
      token.type = word.type;
      if (word.member != nullptr) vocabulary.*word.member = static_cast<std::int64_t>(vocabulary.tokens.size());
    }
    vocabulary.tokens.push_back(std::move(token));
  }
  return vocabulary;
}

}  // namespace tare::resources
