// Sets of characters, as patterns name them: ranges, and classes such as \p{L} and \s.
//
// A set is a list of stretches of the code space, each with the kinds of characters that belong to it: all kinds in a range,
// those of a class elsewhere. So \p{L} is one stretch, however many letters there are, each operation takes time by the
// stretches alone, and whether a character belongs to a set is one search, whatever the set was made of.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tokenize/unicode.hpp"

namespace tare::tokenize {

class CharacterSet {
 public:
  static constexpr std::uint32_t kLast = 0x10FFFF;
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // first and last

  explicit CharacterSet(Kinds kinds = 0) : stretches_{{0, kinds}} {}
  // In any order; they may overlap. These functions charge the budget of the thread for what they do.
  explicit CharacterSet(std::vector<Range> ranges);
  static CharacterSet united(std::vector<CharacterSet> sets);
  void intersect(const CharacterSet& other);
  void negate();
  // Adds every character that equals one of the set if case does not count.
  void ignore_case();
  // Whether a character of the set equals several in a row, such as "ss", if case does not count.
  bool equals_several() const;
  // Must be called before `has`.
  void finish();

  bool has(std::uint32_t character) const { return character < ascii_.size() ? ascii_[character] : search(character); }
  // How many steps that takes, compared with others.
  std::uint32_t price_of(std::uint32_t character) const { return character < ascii_.size() ? 1 : price_; }

 private:
  struct Stretch {
    std::uint32_t first;
    Kinds kinds;
  };
  using Stretches = std::vector<Stretch>;
  template <typename Operation>
  static Stretches combined(const Stretches& one, const Stretches& other, const Operation& operation);
  bool search(std::uint32_t character) const;
  bool is_ascii() const;
  std::optional<std::vector<std::uint32_t>> few() const;
  std::vector<Range> equal_ascii() const;
  std::vector<Range> equal_characters() const;

  Stretches stretches_;  // the first begins at 0; each ends where the next one begins
  std::bitset<128> ascii_;
  std::uint32_t price_ = 1;
};

}  // namespace tare::tokenize
