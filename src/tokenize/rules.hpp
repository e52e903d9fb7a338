// The rules that turn texts into tokens, as data: the steps of tokenizer.json. Other files and keys are put into the same form
// (read.cpp), except SentencePiece's own normalization, which is a step here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/name_map.hpp"
#include "tokenize/pattern.hpp"
#include "tokenize/unicode.hpp"

namespace tare::tokenize {

using Id = std::int32_t;

inline constexpr std::string_view kBlank = "\xE2\x96\x81";  // how SentencePiece spells a blank
// Longer pieces are refused where each place of a text is compared with them: real ones have at most some hundred bytes.
inline constexpr std::size_t kLongestPiece = 4096;

// ---- what is done to a text before it is split ----

struct Replace {
  Pattern pattern;
  std::string with;
};
struct Prepend {
  std::string text;
};
struct LowerCase {};
struct StripAccents {};
struct StripEnds {
  bool left, right;
};
// SentencePiece's table of characters. By grapheme clusters as the tokenizers library applies it, or by the longest match.
struct RewriteCharacters {
  std::string table;
  bool by_graphemes;
};
struct BertClean {
  bool clean, ideographs, strip_accents, lower;
};
// All that SentencePiece does to a text: rewrites characters, joins blanks, puts one before the text, spells blanks.
struct PieceText {
  std::string table;
  bool adds_blank, joins_blanks, spells_blanks;
  bool as_llama_cpp = false;      // which differs for texts of blanks
  std::vector<std::string> kept;  // user-defined pieces, which are not rewritten
};
// What llama.cpp does to a text for pieces with scores. It needs no characters, so any bytes will do.
struct EscapeBlanks {
  bool adds_blank;
};
using Normalizer = std::variant<EscapeBlanks, Form, Replace, Prepend, LowerCase, StripAccents, StripEnds,
                                RewriteCharacters, BertClean, PieceText>;

// ---- how a text is split into words ----

enum class Behavior : std::uint8_t { removed, isolated, with_previous, with_next, contiguous };
struct SplitBy {
  Pattern pattern;
  Behavior behavior = Behavior::isolated;
  bool inverted = false;
};
// By a class of characters.
struct SplitByClass {
  bool (*is)(std::uint32_t character);
  Behavior behavior;
};
struct SpellBlanks {  // "Metaspace"
  std::string replacement;
  enum class Adds : std::uint8_t { never, at_first, always } adds;
  bool splits;
};
struct AddByteBlank {};  // before a text that does not begin with one
using Splitter = std::variant<SplitBy, SplitByClass, SpellBlanks, AddByteBlank>;

// ---- how a word becomes tokens ----

struct BytePairs {
  bool bytes = false;  // characters are bytes: the tokens were spelled in the byte-level alphabet
  bool ignores_merges = false, byte_fallback = false, fuses_unknown = false;
  std::string end_of_word = {}, continues_word = {};
  std::vector<std::pair<Id, Id>> merges = {};  // by rank
  std::vector<Id> merged = {};                 // what each makes
};
// Merges by the scores of the pieces, as SentencePiece does.
struct ScoredPairs {
  bool byte_fallback = false;
  std::vector<bool> unused = {}, frozen = {};  // tokens that are split again; that are not merged further
  bool as_llama_cpp = false;                   // bytes of characters without a token are tokens, however spelled
};
// The likeliest pieces.
struct Likeliest {
  bool bytes = false;  // characters are bytes, as in BytePairs
  bool byte_fallback = false;
  bool single = false;  // sums are of float
  std::vector<bool> left_out = {};
  std::vector<bool> user_defined = {};  // these have a score by their length, or 0
  bool user_defined_by_length = false;
  double lowest = 0, highest = 0;  // scores
};
struct WordPieces {
  std::string prefix = "##";
  std::size_t longest_word = 100;  // characters
};
struct WholeWords {};
using WordModel = std::variant<BytePairs, ScoredPairs, Likeliest, WordPieces, WholeWords>;

// ---- tokens that are found in the text as they are ----

struct Added {
  Id id;
  std::string text;
  bool special = false, single_word = false, left = false, right = false, normalized = false;
};

// ---- how tokens become text ----

struct JoinBytes {};  // the byte-level alphabet, or bytes already
struct ReplaceText {
  std::string what, with;
};
struct ByteTokens {};  // <0x0A>
struct Fuse {};
struct StripText {
  std::string what;
  std::size_t start, stop;
};
struct UnspellBlanks {  // "Metaspace"
  std::string replacement;
  bool adds;
};
struct JoinWordPieces {
  std::string prefix;
  bool cleans;
};
struct JoinSuffixes {  // "BPEDecoder"
  std::string suffix;
};
struct JoinBlanks {};  // a blank between words
using Decoder = std::variant<JoinBytes, ReplaceText, ByteTokens, Fuse, StripText, UnspellBlanks, JoinWordPieces,
                             JoinSuffixes, JoinBlanks>;

struct Rules {
  std::vector<Normalizer> normalizers;
  std::vector<Splitter> splitters;
  WordModel model;
  // By id; a gap is empty and cannot be found. As bytes if the model's characters are bytes.
  std::vector<std::string> texts;
  std::vector<double> scores;
  // Which ids the model itself can give a text.
  std::vector<bool> in_model;
  std::optional<Id> unknown;
  std::vector<Added> added;
  std::vector<Id> before, behind;
  std::vector<Decoder> decoders;
  // Special tokens: omitted from texts on request.
  std::vector<bool> special;
  // Bytes that are not UTF-8 reach the normalizers, instead of becoming U+FFFD before them.
  bool keeps_bytes = false;
};

}  // namespace tare::tokenize
