// How a word becomes tokens: one class for each kind of tokenizer.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenize/rules.hpp"
#include "tokenize/text_budget.hpp"

namespace tare::tokenize {

class WordEncoder {
 public:
  virtual ~WordEncoder() = default;
  // Appends the tokens of a word, which is not empty. Throws what TextBudget throws.
  virtual void encode(std::string_view word, TextBudget& budget, std::vector<Id>& out) const = 0;
};

// Keeps a reference to the rules. Throws corrupt or limit `tokenizer.*`.
std::unique_ptr<WordEncoder> make_encoder(const Rules& rules);

// Throws limit `tokenizer.piece.long`.
void require_short_piece(std::string_view text, Id id);

// The byte that "<0x0A>" and so on spells.
std::optional<unsigned char> byte_of_token(std::string_view text);

// The tokens of a model by their texts. If texts are equal, the last id is found, as by the tokenizers library.
class TokenTable {
 public:
  explicit TokenTable(const Rules& rules);
  std::optional<Id> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  // The id of "<0x0A>" and so on; -1 if there is none.
  Id byte(unsigned char byte) const { return bytes_[byte]; }
  // Appends the byte tokens of a text; false, without any, if one does not exist.
  bool append_bytes(std::string_view text, std::vector<Id>& out) const;

 private:
  NameViewMap<Id> ids_;
  std::array<Id, 256> bytes_;
};

// Texts in order, for finding all that a place of a text begins with. Throws `tokenizer.piece.long`.
class PrefixTable {
 public:
  void add(std::string_view text, Id id) { rows_.emplace_back(text, id); }
  enum class Equal : std::uint8_t { first, last };  // which of equal texts is found
  void finish(Equal equal = Equal::last);
  // Calls visit(length, id) for each, shortest first.
  template <typename Visit>
  void each(std::string_view text, TextBudget& budget, const Visit& visit) const {
    std::size_t low = 0, high = rows_.size();
    for (std::size_t length = 0; low < high; ++length) {
      if (high - low == 1 && length > 0) {
        const auto& [last, id] = rows_[low];
        budget.charge(1 + last.size() / 16);
        if (text.starts_with(last)) visit(last.size(), id);
        return;
      }
      if (rows_[low].first.size() == length && length > 0) visit(length, rows_[low].second);
      if (length == text.size()) return;
      budget.charge(length == 0 ? 1 : 1 + static_cast<std::uint64_t>(std::bit_width(high - low)) / 2);
      narrow(low, high, length, static_cast<unsigned char>(text[length]));
    }
  }
  struct Found {
    std::size_t length = 0;  // 0: none
    Id id = -1;
  };
  Found longest(std::string_view text, TextBudget& budget) const {
    Found last;
    each(text, budget, [&](std::size_t length, Id id) { last = {length, id}; });
    return last;
  }
  bool empty() const { return rows_.empty(); }

 private:
  void narrow(std::size_t& low, std::size_t& high, std::size_t length, unsigned char byte) const;

  std::vector<std::pair<std::string_view, Id>> rows_;
  std::array<std::size_t, 257> first_{};  // where the rows with each first byte begin
};

}  // namespace tare::tokenize
