// The rules of tokenizer.json other than its tokens: how a text is split into words, and which tokens are put around
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

struct TokenizerRules {
  // The steps that split a text, as "split REGEX", "digits", "digits one by one", "bytes" (GPT-2's own regex),
  // "punctuation", ... in their order. ByteLevel without a regex splits nothing and is not listed.
  std::vector<std::string> cuts;
  bool byte_level = false;      // tokens are spelled in the byte-level alphabet
  bool byte_fallback = false;   // characters without a token become byte tokens
  bool ignores_merges = false;  // a word that is a token is not built by merges
  // Whether a piece tokenizer puts a blank before a text; nothing if the file does not define it.
  std::optional<bool> adds_blank;
  bool adds_byte_blank = false;  // the same for tokens in the byte-level alphabet
  // Other normalizers that change a text before it is split, by their names in tokenizer.json ("NFC", "Lowercase"), in
  // order.
  std::vector<std::string> normalizers;
  // Texts of the special tokens before and after a text.
  std::vector<std::string> before, behind;
  // Other settings that change which tokens a text becomes, as parts of a sentence: "it ...".
  std::vector<std::string> others;
};

// Throws `json.*`, `tokenizer.*` as the other readers do.
TokenizerRules parse_tokenizer_rules(std::string_view tokenizer_json);

// The rules of SentencePiece's own file other than its pieces. Throws `protobuf.*`.
struct PieceRules {
  bool unigram = true;         // otherwise pieces are joined by merges
  bool byte_fallback = false;  // as above
  bool adds_blank = true;
  bool joins_blanks = true;   // several blanks become one
  bool blank_behind = false;  // the blank between two words belongs to the first one
  std::string characters;     // the table that rewrites characters, in SentencePiece's form
};
PieceRules parse_piece_rules(std::string_view tokenizer_model);

// Lists the rules of the tokenizer's files that no key of a container can hold. A file that cannot be read has none.
struct UnsupportedRule {
  std::string file, sentence;
};
std::vector<UnsupportedRule> unsupported_tokenizer_rules(const Model& model);

}  // namespace tare::resources
