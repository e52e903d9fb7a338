// The core of byte-pair encoding: merges neighbouring symbols of a row, best pair first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/name_map.hpp"

namespace tiny_llama {

inline constexpr std::int32_t kNone = -1;

// A symbol of a row that is being merged.
struct Symbol {
  std::int32_t id = kNone;  // kNone belongs to no pair
  std::string_view text;    // its original text, used if it has no token
  std::size_t before = SIZE_MAX, after = SIZE_MAX;
};

class PairRanks {
 public:
  struct Merge {
    std::size_t rank = 0;  // the lowest is merged first; each pair has its own rank
    std::int32_t merged = kNone;
  };
  // Returns false if the pair already exists.
  bool add(std::int32_t left, std::int32_t right, Merge merge) {
    return merges_.emplace(key(left, right), merge).second;
  }
  void set(std::int32_t left, std::int32_t right, Merge merge) { merges_[key(left, right)] = merge; }
  // Null if there is no such pair.
  const Merge* find(std::int32_t left, std::int32_t right) const {
    if (left == kNone || right == kNone) return nullptr;
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  }
  std::unordered_map<std::uint64_t, Merge, tare::KeyedNumberHash> merges_;
};

enum class MergeOrder : std::uint8_t {
  one_by_one,  // merge the leftmost occurrence of the best pair, then search again
  // Merge all occurrences of the best pair from the left, then search again. The result differs if a merge creates a
  // better pair.
  by_round,
};

// Links the symbols and merges until no pair has a rank. The remaining symbols are reached from the first by `after`.
// Takes O(n log n) for n symbols.
void merge_row(std::vector<Symbol>& row, const PairRanks& ranks, MergeOrder order);

}  // namespace tiny_llama
