// The data of a tokenizer; each set of rules creates its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_map.hpp"
#include "tare/vocabulary.hpp"
#include "tiny_llama/merge_row.hpp"
#include "tiny_llama/tokenizer.hpp"

namespace tiny_llama {

struct BytePairTokenizer::Tables {
  Rules rules = Rules::strict;
  std::string complaint;
  std::vector<std::string> texts;  // the text of each token
  tare::NameMap<std::int32_t> ids;
  std::int32_t unknown = kNone;

  Tables() = default;
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;
  virtual ~Tables() = default;

  virtual std::vector<std::int32_t> encode(std::string_view text) const = 0;

  std::int32_t id(const std::string& token) const {
    const auto found = ids.find(token);
    return found == ids.end() ? kNone : found->second;
  }
};

using TablesPtr = std::shared_ptr<BytePairTokenizer::Tables>;

// The content of a file, and its name for errors.
struct TextFile {
  std::string name, text;
};

// Both throw `bpe.vocab.*` and `bpe.merges.*`.
TablesPtr strict_tables(const TextFile& vocab, const TextFile& merges);
TablesPtr strict_tables(const tare::Vocabulary& vocabulary);
// Throws `bpe.vocab.id` for an id that would take too much memory; accepts anything else.
TablesPtr upstream_tables(const TextFile& vocab, const TextFile& merges);

// Whether a vocabulary begins with the four tokens that always have the ids 0 to 3 upstream.
bool begins_as_upstream(std::string_view vocab);

}  // namespace tiny_llama
