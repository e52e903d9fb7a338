#include "tokenize/pattern.hpp"

#include <vector>

#include "tokenize/pattern_program.hpp"
#include "tokenize/unicode.hpp"

namespace tare::tokenize {

using namespace matching;

namespace matching {

// Not in an unnamed namespace: Pattern::Search, which a header declares, has one.
class Matcher {
 public:
  Matcher(const Pattern::Program& program, std::string_view text, TextBudget& budget)
      : program_(program), text_(text), budget_(budget) {}

  // The end of the match that begins here; kNone if there is none. Recursive in the nesting of the pattern only.
  std::size_t match(std::uint32_t pc, std::size_t at) {
    const std::size_t base = waiting_.size();
    while (true) {
      charge(1);
      const Instruction& one = program_.code[pc];
      bool goes_on = true;
      switch (one.op) {
        case Op::character: goes_on = take(one.a, at); break;
        case Op::set: goes_on = take(program_.sets[one.a], at); break;
        case Op::run:
        case Op::run_only: goes_on = run(one, pc, at); break;
        case Op::split:
          wait({one.b, at, at});
          pc = one.a;
          continue;
        case Op::jump: pc = one.a; continue;
        case Op::ahead:
        case Op::not_ahead: goes_on = (match(pc + 1, at) != kNone) == (one.op == Op::ahead); break;
        case Op::atomic: {
          const std::size_t end = match(pc + 1, at);
          goes_on = end != kNone;
          if (goes_on) at = end;
          break;
        }
        case Op::behind:
        case Op::not_behind: goes_on = behind(program_.sets[one.a], at) == (one.op == Op::behind); break;
        case Op::line_begin: goes_on = at == 0 || text_[at - 1] == '\n'; break;
        case Op::line_end: goes_on = at == text_.size() || text_[at] == '\n'; break;
        case Op::text_begin: goes_on = at == 0; break;
        case Op::text_end: goes_on = at == text_.size(); break;
        case Op::boundary: goes_on = is_boundary(at); break;
        case Op::no_boundary: goes_on = !is_boundary(at); break;
        case Op::done: waiting_.resize(base); return at;
      }
      if (goes_on) {
        const bool skips = one.op == Op::ahead || one.op == Op::not_ahead || one.op == Op::atomic;
        pc = skips ? one.a : pc + 1;
        continue;
      }
      if (waiting_.size() == base) return kNone;
      Place& place = waiting_.back();
      pc = place.pc;
      at = place.at;
      if (place.at > place.low)
        place.at -= last_length(text_.substr(0, place.at));
      else
        waiting_.pop_back();
    }
  }

 private:
  // Where to continue if an alternative fails. If `at` > `low`, then at each earlier character, too, down to `low`.
  struct Place {
    std::uint32_t pc;
    std::size_t at, low;
  };

  void charge(std::uint64_t count) { budget_.charge(count); }

  void wait(const Place& place) {
    if (waiting_.size() >= budget_.most_places()) charge(UINT64_MAX);
    waiting_.push_back(place);
  }

  bool take(std::uint32_t character, std::size_t& at) const {
    if (at >= text_.size()) return false;
    const Character next = first_character(text_.substr(at));
    if (next.value != character) return false;
    at += next.length;
    return true;
  }

  bool take(const CharacterSet& set, std::size_t& at) {
    if (at >= text_.size()) return false;
    const Character next = first_character(text_.substr(at));
    charge(set.price_of(next.value) - 1);  // the first step is the instruction's
    if (!set.has(next.value)) return false;
    at += next.length;
    return true;
  }

  bool run(const Instruction& one, std::uint32_t pc, std::size_t& at) {
    const CharacterSet& set = program_.sets[one.a];
    std::size_t count = 0, low = at;
    while ((count < one.high || one.high == kNoLimit) && take(set, at))
      if (++count <= one.low) low = at;
    charge(count);
    if (count < one.low) return false;
    if (one.op == Op::run && at > low) {
      const std::size_t fewer = at - last_length(text_.substr(0, at));
      wait({pc + 1, fewer, low});
    }
    return true;
  }

  bool behind(const CharacterSet& set, std::size_t at) {
    if (at == 0) return false;
    const std::uint32_t before = first_character(text_.substr(at - last_length(text_.substr(0, at)))).value;
    charge(set.price_of(before) - 1);
    return set.has(before);
  }

  bool is_boundary(std::size_t at) const {
    const bool before =
        at > 0 && is_word_character(first_character(text_.substr(at - last_length(text_.substr(0, at)))).value);
    const bool after = at < text_.size() && is_word_character(first_character(text_.substr(at)).value);
    return before != after;
  }

  const Pattern::Program& program_;
  std::string_view text_;
  TextBudget& budget_;
  std::vector<Place> waiting_;
};

}  // namespace matching

Pattern::Pattern(std::string_view regex) {
  auto program = std::make_shared<Program>();
  compile(regex, *program);
  program_ = std::move(program);
}

Pattern Pattern::literal(std::string_view text) {
  auto program = std::make_shared<Program>();
  for (std::string_view left = text; !left.empty();) {
    const Character one = first_character(left);
    left.remove_prefix(one.length);
    program->code.push_back({Op::character, one.value});
  }
  program->code.push_back({Op::done});
  program->may_be_empty = text.empty();
  Pattern pattern;
  pattern.program_ = std::move(program);
  return pattern;
}

bool Pattern::may_be_empty() const { return program_->may_be_empty; }

struct Pattern::Search::State {
  std::string_view text;
  Matcher matcher;
  std::size_t from = 0, last_end = kNone;
};

Pattern::Search::Search(const Pattern& pattern, std::string_view text, TextBudget& budget)
    : state_(new State{text, Matcher(*pattern.program_, text, budget)}) {}
Pattern::Search::~Search() = default;

std::optional<Pattern::Match> Pattern::Search::next() {
  const std::string_view text = state_->text;
  std::size_t &from = state_->from, &last_end = state_->last_end;
  if (text.empty()) return std::nullopt;
  const auto after = [&](std::size_t at) {
    return at + (at < text.size() ? first_character(text.substr(at)).length : 1);
  };
  for (; from <= text.size(); from = after(from)) {
    const std::size_t end = state_->matcher.match(0, from);
    if (end == kNone || (end == from && end == last_end)) continue;
    const Match found{from, end};
    from = last_end = end;
    return found;
  }
  return std::nullopt;
}

}  // namespace tare::tokenize
