// Prepares the search for codewords: which lower halves go with which higher ones, and which comparisons they have in common.
#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "codecs/ggml/encode_words.hpp"
#include "codecs/ggml/grids.hpp"

namespace tare::codec::ggml {
namespace {

// Joining two values takes as long as two comparisons. If n higher halves compare both, joining saves n - 1 comparisons, so
// it is worth it from three on.
constexpr unsigned kLeastInCommon = 3;

// The pattern of half a codeword. Bytes of a codeword are its values; their order gives the levels.
template <class Of>
std::uint8_t word_pattern(std::uint64_t codeword, std::size_t half, std::span<const std::int8_t> levels) {
  std::size_t pattern = 0;
  for (std::size_t i = Of::kHalf; i-- > 0;) {
    const auto value = static_cast<std::int8_t>(codeword >> (8 * (half * Of::kHalf + i)) & 255);
    pattern = pattern * Of::kLevels + static_cast<std::size_t>(std::ranges::find(levels, value) - levels.begin());
  }
  return static_cast<std::uint8_t>(pattern);
}

// The higher halves that compare a value, a bit for each of them.
struct Askers {
  std::uint64_t low = 0, high = 0;

  void add(std::size_t i) { (i < 64 ? low : high) |= std::uint64_t{1} << i % 64; }
  bool has(std::size_t i) const { return ((i < 64 ? low : high) >> i % 64 & 1) != 0; }
  void remove(const Askers& others) { low &= ~others.low, high &= ~others.high; }
};
Askers in_common(const Askers& a, const Askers& b) { return {a.low & b.low, a.high & b.high}; }
unsigned count_of(const Askers& askers) {
  return static_cast<unsigned>(std::popcount(askers.low) + std::popcount(askers.high));
}

// Replaces the two values that most higher halves have in common by a join, again and again.
template <class Of>
std::vector<Askers> join_values(std::vector<Askers> values, std::size_t lanes, WordLists& lists) {
  constexpr std::size_t kMost = Of::kPatterns + Of::kMostJoins;
  std::vector<std::array<std::uint8_t, kMost>> common(kMost);
  const auto count_anew = [&](std::size_t i) {
    for (std::size_t j = 0; j < values.size(); ++j)
      if (i != j)
        common[std::min(i, j)][std::max(i, j)] = static_cast<std::uint8_t>(count_of(in_common(values[i], values[j])));
  };
  for (std::size_t i = 0; i < values.size(); ++i) count_anew(i);
  while (values.size() < kMost) {
    std::size_t first = 0, second = 0;
    unsigned most = kLeastInCommon - 1;
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t j = i + 1; j < values.size(); ++j)
        if (common[i][j] > most) most = common[i][j], first = i, second = j;
    if (second == 0) break;
    values.push_back(in_common(values[first], values[second]));
    values[first].remove(values.back());
    values[second].remove(values.back());
    lists.joins[lists.joined++] = {static_cast<std::uint16_t>(first * lanes),
                                   static_cast<std::uint16_t>(second * lanes)};
    for (const std::size_t changed : {first, second, values.size() - 1}) count_anew(changed);
  }
  return values;
}

// In all grids, codewords with the same higher half follow each other, because codewords are in the order of their bits.
template <class Of, class Grid>
WordLists lists_of_grid(const Grid& words, std::size_t lanes) {
  std::vector<std::int8_t> levels;
  for (const std::uint64_t word : words)
    for (std::size_t i = 0; i < Of::kWeights; ++i) levels.push_back(static_cast<std::int8_t>(word >> (8 * i) & 255));
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());

  struct High {
    std::uint8_t pattern;
    std::size_t first, end;
    std::vector<std::uint16_t> pairs;
  };
  std::vector<High> highs;
  WordLists lists;
  std::vector<Askers> values(Of::kPatterns);
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::uint8_t pattern = word_pattern<Of>(words[n], 1, levels);
    lists.low[n] = word_pattern<Of>(words[n], 0, levels);
    if (highs.empty() || pattern != highs.back().pattern) highs.push_back({pattern, n, n, {}});
    highs.back().end = n + 1;
    values[lists.low[n]].add(highs.size() - 1);
  }
  values = join_values<Of>(std::move(values), lanes, lists);
  for (std::size_t h = 0; h < highs.size(); ++h) {
    std::vector<std::uint16_t>& pairs = highs[h].pairs;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].has(h)) pairs.push_back(static_cast<std::uint16_t>(i * lanes));
    if (pairs.size() % 2 != 0) pairs.push_back(pairs.back());
  }
  std::ranges::stable_sort(highs, {}, [](const High& high) { return high.pairs.size(); });
  auto to = lists.pairs.begin();
  for (const High& high : highs) {
    lists.high[lists.highs] = high.pattern;
    lists.first[lists.highs] = static_cast<std::uint16_t>(high.first);
    lists.end[lists.highs] = static_cast<std::uint16_t>(high.end);
    lists.paired[lists.highs++] = static_cast<std::uint8_t>(high.pairs.size());
    to = std::ranges::copy(high.pairs, to).out;
  }
  return lists;
}

}  // namespace

WordLists lists_of(Words words, std::size_t lanes) {
  switch (words) {
    case Words::iq1: return lists_of_grid<OfEight>(kIq1Grid, lanes);
    case Words::iq2_xxs: return lists_of_grid<OfEight>(kIq2XxsGrid, lanes);
    case Words::iq2_xs: return lists_of_grid<OfEight>(kIq2XsGrid, lanes);
    case Words::iq2_s: return lists_of_grid<OfEight>(kIq2SGrid, lanes);
    case Words::iq3_xxs: return lists_of_grid<OfFour>(kIq3XxsGrid, lanes);
    case Words::iq3_s: return lists_of_grid<OfFour>(kIq3SGrid, lanes);
  }
  return {};
}

}  // namespace tare::codec::ggml
