// Byte-pair encoding: text to token ids and back.
//
// A text is cut in front of every run of spaces, each piece into characters, and the pair of neighbours with the lowest
// rank is merged until no pair has one. How the vocabulary spells bytes is told by its tokens:
//
//   byte level    a token has "Ġ" (GPT-2's space): the characters are GPT-2's alphabet of 256 bytes
//   sentencepiece  a token has "▁": spaces are written as that
//   plain         neither: tokens are the text itself
//
// A character that is no token becomes its bytes, where the vocabulary has `<0xNN>` for each of them, else the unknown
// token (`<unk>`, `[UNK]`, `<|unk|>` or `<UNK>`), else an error.
//
// Tiny Llama's own program reads the same two files by other rules and gets other ids. `Rules::upstream` is exactly those
// rules, with all their oddities: a model made with that program needs its ids (docs/tiny-llama.md lists them).
//
// Immutable; usable from many threads.
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

// By which rules files are read and texts are cut.
enum class Rules : std::uint8_t {
  strict,    // those above; files that contradict themselves are refused
  upstream,  // those of Tiny Llama's own program, which takes any file
  either,    // strict; upstream where strict refuses the files and the vocabulary begins with <unk>, <pad>, <bos> and
             // <eos>, which upstream makes the ids 0 to 3
};

class TARE_API BytePairTokenizer {
 public:
  // vocab.txt has one token a line, its id is the line's number from 0; merges.txt one pair a line, "left right", best
  // first (a first line "#version..." is skipped). Lines may end in CR LF. Throws tare::Error `io.open.*` for files,
  // `bpe.vocab.*` and `bpe.merges.*` with the line for what is in them; by the rules of upstream only `bpe.vocab.id`.
  static BytePairTokenizer from_files(const std::string& vocab_path, const std::string& merges_path,
                                      Rules rules = Rules::strict);
  // The vocabulary of a container; byte level when its merges have "Ġ". Throws `bpe.vocab.*` and `bpe.merges.*`.
  static BytePairTokenizer from_vocabulary(const tare::Vocabulary& vocabulary);

  // Throws `bpe.encode.unknown` for a character that has no token when there is no unknown token either.
  std::vector<std::int32_t> encode(std::string_view text) const;
  // Throws `bpe.decode.token` for an id outside the vocabulary.
  std::string decode(std::span<const std::int32_t> tokens) const;
  // The bytes of one token: what streaming prints. A character may come in several.
  const std::string& text_of(std::int32_t token) const;

  std::size_t size() const;
  std::optional<std::int32_t> find(std::string_view token) const;
  std::optional<std::int32_t> unknown() const;
  // `strict` or `upstream`: those that were taken.
  Rules rules() const;
  // What was wrong with the files where `either` became `upstream`; else empty.
  const std::string& complaint() const;

  struct Tables;  // what stands behind each of the rules

 private:
  explicit BytePairTokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}
  std::shared_ptr<const Tables> tables_;
};

}  // namespace tiny_llama
