// Byte-pair encoding: text to token ids and back.
//
// A text is split before every run of spaces, each piece is split into characters, and the neighbouring pair with the
// lowest rank is merged until no pair has a rank. The tokens show how the vocabulary represents bytes:
//
//   byte level    a token has "Ġ" (GPT-2's space): the characters are GPT-2's alphabet of 256 bytes
//   sentencepiece  a token has "▁", which represents a space
//   plain         neither: tokens are the text itself
//
// A character that is not a token becomes its bytes if the vocabulary has `<0xNN>` for each of them, else the unknown
// token (`<unk>`, `[UNK]`, `<|unk|>` or `<UNK>`), else an error.
//
// Tiny Llama's own program reads the same two files by other rules and gets other ids. `Rules::upstream` is exactly
// those rules, with all their oddities (docs/tiny-llama.md lists them): a model that was trained with that program
// needs its ids.
//
// Immutable; may be used from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tare/export.hpp"
#include "tare/vocabulary.hpp"

namespace tiny_llama {

// The rules for reading files and splitting texts.
enum class Rules : std::uint8_t {
  strict,    // the rules above; inconsistent files are refused
  upstream,  // the rules of Tiny Llama's own program, which accepts any file
  either,    // strict; upstream if strict refuses the files and the vocabulary begins with <unk>, <pad>, <bos> and
             // <eos>, which have the ids 0 to 3 upstream
};

class TARE_API BytePairTokenizer {
 public:
  // vocab.txt has one token per line, with the line's number from 0 as its id; merges.txt has one pair per line, "left
  // right", best first (a first line "#version..." is skipped). Lines may end in CR LF. Throws tare::Error `io.open.*`
  // for the files, and `bpe.vocab.*` and `bpe.merges.*`, with the line, for their content; with the upstream rules only
  // `bpe.vocab.id`.
  static BytePairTokenizer from_files(const std::string& vocab_path, const std::string& merges_path,
                                      Rules rules = Rules::strict);
  // Uses the vocabulary of a container, at byte level if its merges have "Ġ". Throws `bpe.vocab.*` and `bpe.merges.*`.
  static BytePairTokenizer from_vocabulary(const tare::Vocabulary& vocabulary);

  // Throws `bpe.encode.unknown` for a character without a token if there is no unknown token either.
  std::vector<std::int32_t> encode(std::string_view text) const;
  // Throws `bpe.decode.token` for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> tokens) const;
  // Returns the bytes of one token, for streaming. A character may span several tokens.
  const std::string& text_of(std::int32_t token) const;

  std::size_t size() const;
  std::optional<std::int32_t> find(std::string_view token) const;
  std::optional<std::int32_t> unknown() const;
  // Returns the rules in use: `strict` or `upstream`.
  Rules rules() const;
  // Returns why `either` became `upstream`; otherwise empty.
  const std::string& complaint() const;

  struct Tables;  // the data of one of the two rule sets

 private:
  explicit BytePairTokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}
  std::shared_ptr<const Tables> tables_;
};

}  // namespace tiny_llama
