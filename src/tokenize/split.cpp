#include "tokenize/split.hpp"

#include "tokenize/unicode.hpp"

namespace tare::tokenize {
namespace {

using Visit = std::function<void(std::string_view)>;

// What passing a word on takes, whatever its length.
constexpr std::uint64_t kWordSteps = 8;
// What looking up the class of a character takes, for each of its bytes.
constexpr std::uint64_t kClassSteps = 2;

// Makes words from the stretches that match and those that do not, by `behavior`.
class Cutter {
 public:
  Cutter(std::string_view text, Behavior behavior, const std::function<void(std::size_t, std::size_t)>& visit)
      : text_(text), behavior_(behavior), visit_(visit) {}

  // The next stretch of the text. Stretches follow each other without gaps. An empty one separates its neighbours.
  void add(std::size_t begin, std::size_t end, bool matches) {
    switch (behavior_) {
      case Behavior::isolated: give(begin, end); break;
      case Behavior::removed:
        if (!matches) give(begin, end);
        break;
      case Behavior::contiguous:
        if (has_ && matched_ == matches) {
          end_ = end;
          return;
        }
        flush();
        keep(begin, end, matches);
        break;
      case Behavior::with_previous:
        if (matches && has_ && !matched_) {
          end_ = end;
          matched_ = true;
          return;
        }
        flush();
        keep(begin, end, matches);
        break;
      case Behavior::with_next:
        if (!matches && has_ && matched_) {
          end_ = end;
          matched_ = false;
          return;
        }
        flush();
        keep(begin, end, matches);
        break;
    }
  }
  void flush() {
    if (has_) give(begin_, end_);
    has_ = false;
  }

 private:
  void give(std::size_t begin, std::size_t end) const {
    if (end > begin) visit_(begin, end);
  }
  void keep(std::size_t begin, std::size_t end, bool matches) {
    has_ = true;
    begin_ = begin;
    end_ = end;
    matched_ = matches;
  }

  std::string_view text_;
  Behavior behavior_;
  const std::function<void(std::size_t, std::size_t)>& visit_;
  bool has_ = false, matched_ = false;
  std::size_t begin_ = 0, end_ = 0;
};

class Walker {
 public:
  Walker(const std::vector<Splitter>& splitters, TextBudget& budget, const Visit& visit)
      : splitters_(splitters), budget_(budget), visit_(visit) {}

  // `first`: the text is the beginning of the whole one.
  void walk(std::size_t step, std::string_view text, bool first) {
    if (text.empty()) return;
    budget_.charge(kWordSteps + text.size());
    if (step == splitters_.size()) return visit_(text);
    std::visit([&](const auto& one) { apply(one, step, text, first); }, splitters_[step]);
  }

 private:
  template <typename Find>
  void cut(std::size_t step, std::string_view text, bool first, Behavior behavior, bool inverted, const Find& find) {
    const std::function<void(std::size_t, std::size_t)> give = [&](std::size_t begin, std::size_t end) {
      walk(step + 1, text.substr(begin, end - begin), first && begin == 0);
    };
    Cutter cutter(text, behavior, give);
    std::size_t done = 0;
    while (const std::optional<Pattern::Match> match = find(done)) {
      if (match->begin > done) cutter.add(done, match->begin, inverted);
      cutter.add(match->begin, match->end, !inverted);
      done = match->end;
    }
    if (text.size() > done) cutter.add(done, text.size(), inverted);
    cutter.flush();
  }

  void apply(const SplitBy& one, std::size_t step, std::string_view text, bool first) {
    Pattern::Search search(one.pattern, text, budget_);
    cut(step, text, first, one.behavior, one.inverted, [&](std::size_t) { return search.next(); });
  }

  void apply(const SplitByClass& one, std::size_t step, std::string_view text, bool first) {
    budget_.charge(kClassSteps * text.size());
    cut(step, text, first, one.behavior, false, [&](std::size_t from) -> std::optional<Pattern::Match> {
      while (from < text.size()) {
        const Character c = first_character(text.substr(from));
        if (one.is(c.value)) return Pattern::Match{from, from + c.length};
        from += c.length;
      }
      return std::nullopt;
    });
  }

  void apply(const SpellBlanks& one, std::size_t step, std::string_view text, bool first) {
    std::string spelled;
    spelled.reserve(text.size() + text.size() / 2);
    for (const char c : text)
      if (c == ' ')
        spelled += one.replacement;
      else
        spelled += c;
    if ((one.adds == SpellBlanks::Adds::always || (one.adds == SpellBlanks::Adds::at_first && first)) &&
        !spelled.starts_with(one.replacement))
      spelled.insert(0, one.replacement);
    if (!one.splits) return walk(step + 1, spelled, first);
    cut(step, spelled, first, Behavior::with_next, false, [&](std::size_t from) -> std::optional<Pattern::Match> {
      const std::size_t found = spelled.find(one.replacement, from);
      return found == spelled.npos ? std::nullopt
                                   : std::optional(Pattern::Match{found, found + one.replacement.size()});
    });
  }

  void apply(const AddByteBlank&, std::size_t step, std::string_view text, bool first) {
    if (text.starts_with(' ')) return walk(step + 1, text, first);
    const std::string spelled = " " + std::string(text);
    walk(step + 1, spelled, first);
  }

  const std::vector<Splitter>& splitters_;
  TextBudget& budget_;
  const Visit& visit_;
};

}  // namespace

void split_words(const std::vector<Splitter>& splitters, std::string_view text, bool first, TextBudget& budget,
                 const Visit& visit) {
  Walker(splitters, budget, visit).walk(0, text, first);
}

}  // namespace tare::tokenize
