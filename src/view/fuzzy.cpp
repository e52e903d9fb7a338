#include "view/fuzzy.hpp"

#include <algorithm>

namespace tare::view {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool starts_part(std::string_view text, std::size_t place) {
  return place == 0 || text[place - 1] == '.' || text[place - 1] == '_' || text[place - 1] == '/';
}

bool same_at(std::string_view word, std::string_view text, std::size_t place) {
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lower(text[place + i]) != lower(word[i])) return false;
  return true;
}

std::optional<int> score_of(std::string_view word, std::string_view text) {
  if (word.size() > text.size()) return std::nullopt;
  // The word appears unbroken: take the best position.
  std::optional<int> best;
  for (std::size_t place = 0; place + word.size() <= text.size(); ++place) {
    if (lower(text[place]) != lower(word[0]) || !same_at(word, text, place)) continue;
    const std::size_t end = place + word.size();
    const int whole = starts_part(text, place) ? 40 : 0, ends = end == text.size() || text[end] == '.' ? 30 : 0;
    best = std::max(best.value_or(0), 1000 + whole + ends);
  }
  if (best) return best;
  // Otherwise match letter by letter, each at its first occurrence.
  int score = 100;
  std::size_t last = 0, i = 0;
  for (std::size_t place = 0; place < text.size() && i < word.size(); ++place) {
    if (lower(text[place]) != lower(word[i])) continue;
    if (i > 0) score -= static_cast<int>(std::min<std::size_t>(place - last - 1, 6));
    if (starts_part(text, place)) score += 8;
    last = place;
    ++i;
  }
  return i == word.size() ? std::optional<int>(std::max(score, 1)) : std::nullopt;
}

}  // namespace

std::optional<int> fuzzy_score(std::string_view typed, std::string_view text) {
  text = text.substr(0, 1000);
  int sum = 0;
  while (!typed.empty()) {
    const std::size_t end = std::min(typed.find(' '), typed.size());
    const std::string_view word = typed.substr(0, end);
    typed = typed.substr(std::min(end + 1, typed.size()));
    if (word.empty()) continue;
    const auto score = score_of(word, text);
    if (!score) return std::nullopt;
    sum += *score;
  }
  // Between equal scores, the shorter name wins.
  return sum * 4 - static_cast<int>(std::min<std::size_t>(text.size(), 400) / 8);
}

}  // namespace tare::view
