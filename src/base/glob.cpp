// Compares bytes instead of calling fnmatch, whose sets and question marks depend on the host program's locale. A
// mismatch only goes back to the last star, so no pattern takes exponential time.
#include "base/glob.hpp"

#include <cstddef>
#include <optional>

namespace tare {
namespace {

constexpr auto kNone = std::string_view::npos;

// The result of matching one pattern element other than a star: whether it matches the byte, and where the next begins.
struct Step {
  bool takes;
  std::size_t next;
};

std::size_t literal_at(std::string_view pattern, std::size_t at) {
  return pattern[at] == '\\' && at + 1 < pattern.size() ? at + 1 : at;
}

// Matches a set that begins at "["; returns nothing if no "]" ends it: then the "[" is literal.
std::optional<Step> step_set(std::string_view pattern, std::size_t at, unsigned char byte) {
  ++at;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool found = false;
  for (std::size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at != first) return Step{found != negated, at + 1};
    at = literal_at(pattern, at);
    const auto low = static_cast<unsigned char>(pattern[at]);
    auto high = low;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      at = literal_at(pattern, at + 2);
      high = static_cast<unsigned char>(pattern[at]);
    }
    found = found || (low <= byte && byte <= high);
  }
  return std::nullopt;
}

Step step(std::string_view pattern, std::size_t at, char byte) {
  if (pattern[at] == '?') return {true, at + 1};
  if (pattern[at] == '[')
    if (const auto set = step_set(pattern, at, static_cast<unsigned char>(byte))) return *set;
  at = literal_at(pattern, at);
  return {pattern[at] == byte, at + 1};
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0;
  std::size_t star = kNone, resume = 0;  // position after the last star, and the byte of the name where it resumes
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = n;
      continue;
    }
    const Step taken = p < pattern.size() ? step(pattern, p, name[n]) : Step{false, p};
    if (taken.takes) {
      p = taken.next;
      ++n;
    } else if (star != kNone) {
      p = star;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string escape_glob(std::string_view name) {
  std::string pattern;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern;
}

}  // namespace tare
