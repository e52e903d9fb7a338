// Converts between the tokenizer's keys and a Vocabulary.
#pragma once

#include "formats/gguf/gguf.hpp"

namespace tare::gguf {

// Returns whether the key is read into the vocabulary.
bool is_vocabulary_key(std::string_view key);

// Moves what it can from the entries into the vocabulary, which empties those entries, and sets kPlainTokensKey if a
// token needs it.
class VocabularyReader {
 public:
  VocabularyReader(std::vector<Entry>& entries, Model& model, const Complaints& complaints)
      : entries_(entries), model_(model), complaints_(complaints) {}
  // Returns, for each entry, whether its content is in the vocabulary now.
  std::vector<bool> run();

 private:
  template <typename T>
  T* find(std::string_view key, const EntryType& type, std::size_t& number);
  void take_kind();
  void complain_of_bytes(std::string_view what, const std::vector<std::string>& texts, std::size_t number) const;
  void take_tokens();
  void take_scores();
  void take_types();
  void take_merges();
  void take_ids();
  void spell_tokens();
  void spell_pieces();

  std::vector<Entry>& entries_;
  Model& model_;
  const Complaints& complaints_;
  std::vector<bool> taken_;
};

// The entries for a model's vocabulary. Keys in `wanted` are written even if a reader would assume the same without
// them.
struct VocabularyEntries {
  std::vector<Entry> entries;
  Map rest;  // what the entries cannot express, for the private tree
};
// If `with_arrays` is false, only the keys and types are of interest, and arrays may be empty.
VocabularyEntries vocabulary_entries(const Model& model, const Map& wanted, bool with_arrays = true);
// Returns the first token, or merge, that is not UTF-8 as a file would have it, in words with the number of all; empty if
// there is none. Strings of GGUF are UTF-8.
std::string text_problem(const Model& model);
// Names the first two tokens that have the same text in a file; empty if there are none. llama.cpp cannot load them.
std::string repetition_problem(const Model& model);
// Puts `rest` back into the vocabulary, as far as it still fits.
void take_rest(const Map& rest, Vocabulary& vocabulary);

}  // namespace tare::gguf
