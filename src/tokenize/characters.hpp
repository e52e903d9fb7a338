// SentencePiece's table that rewrites characters (precompiled_charsmap): a double array over the bytes of what is replaced,
// and the replacements.
//
//   u32 bytes of the array | u32... units | texts, each ended by a zero byte
//
// A unit has the byte that leads to it in bits 0-7, "an end is here" in bit 8, and the distance to its successors above;
// the unit of an end has bit 31 and the place of its replacement.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/text_budget.hpp"

namespace tare::tokenize {

class CharacterTable {
 public:
  // Empty bytes: a table of nothing. Throws corrupt `tokenizer.charsmap`.
  explicit CharacterTable(std::string_view bytes);

  struct Found {
    std::size_t length;  // bytes that are replaced
    std::string_view with;
  };
  // The longest, or the shortest, entry that the text begins with. Throws as the constructor does.
  std::optional<Found> find(std::string_view text, bool longest, TextBudget& budget) const;

 private:
  std::uint32_t unit(std::size_t at) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace tare::tokenize
