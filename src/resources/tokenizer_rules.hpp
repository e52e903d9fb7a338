// The rules of tokenizer.json other than its tokens: how a text is split into words, and which tokens are put around
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tare/model.hpp"

namespace tare::resources {

// A split at blanks, which most tokenizers have replaced by then.
inline constexpr std::string_view kSplitByBlank = "split by a blank";

struct TokenizerRules {
  // The steps that split a text, as "split REGEX", "digits", "digits one by one", "bytes" (GPT-2's own regex),
  // "punctuation", ... in their order. ByteLevel without a regex splits nothing and is not listed.
  std::vector<std::string> cuts;
  bool byte_level = false;      // tokens are spelled in the byte-level alphabet
  bool byte_fallback = false;   // characters without a token become byte tokens
  bool ignores_merges = false;  // a word that is a token is not built by merges
  // Whether a piece tokenizer puts a blank before a text; nothing if the file does not define it.
  std::optional<bool> adds_blank;
  bool skips_blank = false;             // but not before a text that begins with one
  bool first_blank_only = false;        // and not after the special tokens in a text
  bool adds_byte_blank = false;         // the same for tokens in the byte-level alphabet
  bool prepends_by_normalizer = false;  // it does so before added tokens are looked for
  bool spells_blanks = false;           // blanks become U+2581
  bool splits_words = false;            // pieces are looked for in one word at a time
  // Whether a blank at the beginning is removed when tokens become text, and the steps that do so, in order.
  bool strips_blank = false;
  std::vector<std::string> decoders;
  // Other normalizers that change a text before it is split, by their names in tokenizer.json ("NFC", "Lowercase"), in
  // order.
  std::vector<std::string> normalizers;
  // Texts of the special tokens before and after a text.
  std::vector<std::string> before, behind;
  // Other settings that change which tokens a text becomes, as parts of a sentence: "it ...".
  std::vector<std::string> others;
  // Likewise, settings that change which text tokens become.
  std::vector<std::string> decoding;
};

// Throws `json.*`, `tokenizer.*` as the other readers do.
TokenizerRules parse_tokenizer_rules(std::string_view tokenizer_json);

// The rules of SentencePiece's own file other than its pieces. Throws `protobuf.*`.
struct PieceRules {
  bool unigram = true;         // otherwise pieces are joined by merges
  bool byte_fallback = false;  // as above
  bool adds_blank = true;
  bool joins_blanks = true;      // several blanks become one
  bool blank_behind = false;     // the blank between two words belongs to the first one
  bool spells_blanks = true;     // blanks become U+2581
  std::uint64_t model_type = 1;  // 1: unigram, 2: BPE, others: words or characters
  std::string characters;        // the table that rewrites characters, in SentencePiece's form
};
PieceRules parse_piece_rules(std::string_view tokenizer_model);

// Lists the rules of the tokenizer's files that no key of a container can hold. A file that cannot be read has none.
struct UnsupportedRule {
  enum class Matters : std::uint8_t { encoding, decoding };  // for the tokens of a text, for the text of tokens
  std::string file, sentence;
  Matters matters = Matters::encoding;
};
std::vector<UnsupportedRule> unsupported_tokenizer_rules(const Model& model);

}  // namespace tare::resources
