// The heart of byte-pair encoding: neighbours in a row of symbols become one, best pair first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tiny_llama {

inline constexpr std::int32_t kNone = -1;

// A symbol in a row of them that are being merged.
struct Symbol {
  std::int32_t id = kNone;  // kNone is part of no pair
  std::string_view text;    // what it was made of, for what has no token
  std::size_t before = SIZE_MAX, after = SIZE_MAX;
};

class PairRanks {
 public:
  struct Merge {
    std::size_t rank = 0;  // the lowest is merged first; one rank is one pair's
    std::int32_t merged = kNone;
  };
  // False when the pair is there already.
  bool add(std::int32_t left, std::int32_t right, Merge merge) {
    return merges_.emplace(key(left, right), merge).second;
  }
  void set(std::int32_t left, std::int32_t right, Merge merge) { merges_[key(left, right)] = merge; }
  // Null when there is no such pair.
  const Merge* find(std::int32_t left, std::int32_t right) const {
    if (left == kNone || right == kNone) return nullptr;
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::unordered_map<std::uint64_t, Merge> merges_;
};

enum class MergeOrder : std::uint8_t {
  one_by_one,  // of the best pair the leftmost, then look again
  by_round,    // all of the best pair from the left, then look again: differs where a merge makes a better pair
};

// Joins the symbols into a row and merges until no pair has a rank. What is left is reached from the first by `after`.
// Takes n log n steps for n symbols.
void merge_row(std::vector<Symbol>& row, const PairRanks& ranks, MergeOrder order);

}  // namespace tiny_llama
