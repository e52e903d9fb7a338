#include "base/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/printable.hpp"

namespace tare {

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

namespace {

// The letters and digits of a word: "q4km" and "Q4_K_M" are the same.
std::string bare(std::string_view word) {
  std::string letters = lower_case(std::string(word));
  std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == '.' || c == ' '; });
  return letters;
}

// Returns the number of edits (insert, delete, replace, swap neighbours) between two words, or more than `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::min_element(now.begin(), now.end()) > limit) return limit + 1;
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most) {
  constexpr std::size_t kLongest = 1000;  // longer words are not typing mistakes
  std::size_t steps = 3'000'000;          // pairs of letters to compare: a hint is not worth more time
  const std::size_t limit = word.size() <= 3 ? 1 : std::max<std::size_t>(2, word.size() / 4);
  const std::string letters = bare(word);
  std::vector<std::pair<std::size_t, const std::string*>> found;
  for (const std::string& candidate : candidates) {
    if (word.size() > kLongest || candidate.size() > kLongest) continue;
    const std::size_t cost = (word.size() + 1) * (candidate.size() + 1);
    if (cost > steps) break;
    steps -= cost;
    // A name that contains the word, or is contained in it, is more likely meant than one with a changed letter.
    const bool inside = word.size() >= 3 && candidate.size() >= 3 &&
                        (candidate.find(word) != std::string::npos ||
                         (word.find(candidate) != std::string_view::npos && candidate.size() * 2 > word.size()));
    const std::size_t edits = letters == bare(candidate) ? 0 : distance(word, candidate, limit);
    // If every letter is replaced, the words are not similar: "ls" is not "xy".
    if (edits <= limit && edits < std::max(word.size(), candidate.size()))
      found.emplace_back(edits, &candidate);
    else if (inside)
      found.emplace_back(limit + 1, &candidate);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, found.size()); ++i) names.push_back(*found[i].second);
  return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates, std::size_t most) {
  std::vector<std::string> near = nearest(word, candidates, most);
  for (std::string& name : near) name = quote(name);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

std::string there_is_no(std::string_view thing, std::string_view name, std::span<const std::string> candidates,
                        std::string_view otherwise, std::size_t most) {
  const std::string meant = did_you_mean(name, candidates, most);
  return fmt::format("there is no {} {}{}", thing, name.empty() ? "without a name" : quote(name),
                     meant.empty() ? otherwise : meant);
}

}  // namespace tare
