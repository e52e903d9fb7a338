// Compares bytes instead of calling fnmatch, whose sets and question marks depend on the host program's locale. A
// mismatch only goes back to the last star, so no pattern takes exponential time. It may take the product of two lengths,
// so what it compares is charged to the budget: the pattern and the name may both come from a file.
#include "base/glob.hpp"

#include <cstddef>
#include <optional>

#include "base/budget.hpp"

namespace tare {
namespace {

constexpr auto kNone = std::string_view::npos;

// The result of matching one pattern element other than a star: whether it matches the byte, where the next begins, and
// how many bytes of the pattern were read.
struct Step {
  bool takes;
  std::size_t next;
  std::size_t read;
};

// Counts the bytes that a match compares. Short ones cost nothing: a directory may have a hundred thousand files.
class Compared {
 public:
  void add(std::size_t bytes) {
    unpaid_ += bytes;
    if (unpaid_ >= kPaidAtOnce) pay();
  }
  void pay() {
    if (unpaid_ >= kBytesPerStep) charge_steps(unpaid_ / kBytesPerStep);
    unpaid_ = 0;
  }

 private:
  static constexpr std::size_t kBytesPerStep = 16, kPaidAtOnce = 4096;
  std::size_t unpaid_ = 0;
};

std::size_t literal_at(std::string_view pattern, std::size_t at) {
  return pattern[at] == '\\' && at + 1 < pattern.size() ? at + 1 : at;
}

// Matches a set that begins at "["; returns nothing if no "]" ends it: then the "[" is literal.
std::optional<Step> step_set(std::string_view pattern, std::size_t at, unsigned char byte) {
  const std::size_t begin = at++;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (negated) ++at;
  bool found = false;
  for (std::size_t first = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at != first) return Step{found != negated, at + 1, at + 1 - begin};
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
  if (pattern[at] == '?') return {true, at + 1, 1};
  const bool opens = pattern[at] == '[';
  if (opens)
    if (const auto set = step_set(pattern, at, static_cast<unsigned char>(byte))) return *set;
  const std::size_t read = opens ? pattern.size() - at : 1;
  at = literal_at(pattern, at);
  return {pattern[at] == byte, at + 1, read};
}

bool matches(std::string_view pattern, std::string_view name, Compared& compared) {
  std::size_t p = 0, n = 0;
  std::size_t star = kNone, resume = 0;  // position after the last star, and the byte of the name where it resumes
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = ++p;
      resume = n;
      continue;
    }
    const Step taken = p < pattern.size() ? step(pattern, p, name[n]) : Step{false, p, 1};
    compared.add(taken.read);
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

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
  Compared compared;
  const bool matched = matches(pattern, name, compared);
  compared.pay();
  return matched;
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
