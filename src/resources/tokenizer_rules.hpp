// What tokenizer.json says beside the tokens: how a text is cut into words, and what is put around it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

struct TokenizerRules {
  // The steps that cut a text, as "split REGEX", "digits", "digits one by one", "bytes" (GPT-2's own regex), "punctuation",
  // ... in their order. ByteLevel without a regex cuts nothing and is not listed.
  std::vector<std::string> cuts;
  bool byte_level = false;      // tokens are spelled in the byte-level alphabet
  bool byte_fallback = false;   // what has no token becomes byte tokens
  bool ignores_merges = false;  // words that are tokens are not put together by merges
  // Whether a blank is put in front of a text that is made of pieces; nothing where the file does not say.
  std::optional<bool> adds_blank;
  bool adds_byte_blank = false;  // the same where tokens are spelled in the byte-level alphabet
  // What else is done to a text before it is cut, by the names of tokenizer.json ("NFC", "Lowercase"), in its order.
  std::vector<std::string> normalizers;
  // Texts of the special tokens before and behind a text.
  std::vector<std::string> before, behind;
  // What else the file asks for that changes which tokens a text becomes, as parts of a sentence: "it ...".
  std::vector<std::string> others;
};

// Throws `json.*`, `tokenizer.*` as the other readers do.
TokenizerRules parse_tokenizer_rules(std::string_view tokenizer_json);

// What SentencePiece's own file says beside the pieces. Throws `protobuf.*`.
struct PieceRules {
  bool unigram = true;         // else pieces are put together by merges
  bool byte_fallback = false;  // as above
  bool adds_blank = true;
  bool joins_blanks = true;   // several blanks become one
  bool blank_behind = false;  // the blank between two words belongs to the first one
  std::string characters;     // the table by which characters are rewritten, in SentencePiece's form
};
PieceRules parse_piece_rules(std::string_view tokenizer_model);

// Lists the rules of the tokenizer's files that no key of a container can hold. A file that cannot be read has none.
struct UnsaidRule {
  std::string file, sentence;
};
std::vector<UnsaidRule> unsaid_tokenizer_rules(const Model& model);

}  // namespace tare::resources
