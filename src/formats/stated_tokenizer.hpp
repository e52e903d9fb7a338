// How a text becomes tokens, as the metadata of a model states it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tare/model.hpp"

namespace tare {

struct StatedTokenizer {
  std::string kind;  // as in Vocabulary::kind; any other name is one that Tare does not know
  // How a text is split into words, as in resources::TokenizerRules. Nothing if it is not stated, or the name for it
  // (`cuts_name`) is not known.
  std::optional<std::vector<std::string>> cuts = {};
  std::string cuts_name = {};
  bool ignores_merges = false;                         // a word that is a token is not built by merges
  bool adds_blank = true;                              // pieces: a blank is put before a text
  bool joins_blanks = false;                           // several blanks become one
  std::string characters = {};                         // the table that rewrites characters, in SentencePiece's form
  bool lower_case = true;                              // words: capitals are made small, and accents removed
  std::size_t longest_word = 100;                      // words: longer ones are unknown (characters)
  std::vector<std::int64_t> before = {}, behind = {};  // tokens around a text
  std::vector<std::int64_t> plain = {};                // tokens that are not spelled in the byte-level alphabet
};

// Reads the keys in the metadata, in whatever container the model is: a conversion carries them. Returns nothing if there
// are none. (Defined by the one container that has such keys.)
std::optional<StatedTokenizer> stated_tokenizer(const Model& model);

}  // namespace tare
