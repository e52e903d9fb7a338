#include "tokenize/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"
#include "tokenize/unicode.hpp"

// Not in an unnamed namespace: Pattern::Program, which a header declares, consists of them.
namespace tare::tokenize::matching {

constexpr std::size_t kNone = SIZE_MAX;
constexpr std::uint32_t kLastCharacter = 0x10FFFF;
// Real patterns have at most a few hundred instructions and a nesting of four.
constexpr std::size_t kMostInstructions = 20000, kMostNesting = 24, kMostTimes = 1000;
// All members of a set are compared with each ASCII character when it is finished.
constexpr std::uint64_t kStepsPerMember = 32;
// Repetitions copy what they repeat, and one may follow another: (x){1}{1}{1}.
constexpr std::size_t kMostEmitted = 50 * kMostInstructions;

// ---- sets of characters ----

struct Set {
  bool negated = false, folds = false;
  bool space = false, not_space = false, word = false, not_word = false, han = false, not_han = false;
  Categories categories = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges;
  std::vector<Set> parts, others;  // members of a union; sets to intersect with
  std::bitset<128> ascii;          // the answers for ASCII, once `finish` was called
  std::uint32_t price = 1;         // steps for a character beyond ASCII, likewise

  void add(std::uint32_t first, std::uint32_t last) { ranges.emplace_back(first, last); }

  bool has_exactly(std::uint32_t c) const {
    const bool one =
        std::ranges::any_of(ranges, [&](const auto& range) { return c >= range.first && c <= range.second; }) ||
        (categories != 0 && (category_of(c) & categories) != 0) || (space && is_white_space(c)) ||
        (not_space && !is_white_space(c)) || (word && is_word_character(c)) || (not_word && !is_word_character(c)) ||
        (han && is_han(c)) || (not_han && !is_han(c)) ||
        std::ranges::any_of(parts, [&](const Set& part) { return part.computes(c); });
    return one && std::ranges::all_of(others, [&](const Set& other) { return other.computes(c); });
  }
  bool computes(std::uint32_t c) const {
    if (!folds) return has_exactly(c) != negated;
    // Every character that has the same lower or upper case: of the letters, a few have a third form (U+017F, U+212A).
    const std::uint32_t upper = upper_case(c), lower = lower_case(upper);
    constexpr std::uint32_t kLongS = 0x17F, kKelvin = 0x212A;
    const bool found = has_exactly(c) || has_exactly(upper) || has_exactly(lower) || has_exactly(lower_case(c)) ||
                       (lower == 's' && has_exactly(kLongS)) || (lower == 'k' && has_exactly(kKelvin));
    return found != negated;
  }
  std::size_t members() const {
    std::size_t count = 1 + ranges.size();
    for (const std::vector<Set>* const sets : {&parts, &others})
      for (const Set& set : *sets) count += set.members();
    return count;
  }
  void finish() {
    for (std::uint32_t c = 0; c < ascii.size(); ++c) ascii[c] = computes(c);
    price = static_cast<std::uint32_t>(1 + members() / 64);
  }
  bool has(std::uint32_t c) const { return c < ascii.size() ? ascii[c] : computes(c); }
  std::uint32_t price_of(std::uint32_t c) const { return c < ascii.size() ? 1 : price; }
};

enum class Op : std::uint8_t {
  set,         // one character of the set `a`
  run,         // `a`: set; `low` to `high` characters of it, as many as possible
  run_only,    // the same, and never fewer
  split,       // goes on at `a`; if that fails, at `b`
  jump,        // to `a`
  ahead,       // what begins at the next instruction matches here; goes on at `a`
  not_ahead,   // it does not
  behind,      // the character before is in the set `a`
  not_behind,  // it is not, or there is none
  atomic,      // what begins at the next instruction matches in one way only; goes on at `a`
  line_begin,
  line_end,
  text_begin,
  text_end,
  boundary,
  no_boundary,
  done,
};

struct Instruction {
  Op op;
  std::uint32_t a = 0, b = 0;
  std::size_t low = 0, high = 0;
};

}  // namespace tare::tokenize::matching

namespace tare::tokenize {

struct Pattern::Program {
  std::vector<matching::Set> sets;
  std::vector<matching::Instruction> code;
};

namespace {

using namespace matching;

// ---- compiling ----

class Compiler {
 public:
  Compiler(std::string_view regex, Pattern::Program& program) : all_(regex), left_(regex), program_(program) {}

  void run() {
    if (!is_valid_utf8(all_)) throw refused("it is not UTF-8");
    alternatives(false);
    if (!left_.empty()) throw refused("a ) without a (");
    emit({Op::done});
  }

 private:
  using Code = std::vector<Instruction>;
  struct Times {
    std::size_t low, high;
    enum class Kind : std::uint8_t { greedy, lazy, possessive } kind = Kind::greedy;
  };

  Error refused(std::string_view why) const {
    return {
        ErrorKind::unsupported, "tokenizer.pattern",
        fmt::format("the pattern by which it splits texts is not one that Tare matches: {}: \"{}\"", why, quote(all_))};
  }

  Code& code() { return program_.code; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }
  std::uint32_t emit(const Instruction& one) {
    if (code().size() >= kMostInstructions || ++emitted_ > kMostEmitted) throw refused("it is too long");
    charge_steps();
    code().push_back(one);
    return here() - 1;
  }
  std::uint32_t keep(Set set) {
    charge_steps(set.members() * kStepsPerMember);
    set.finish();
    program_.sets.push_back(std::move(set));
    return static_cast<std::uint32_t>(program_.sets.size() - 1);
  }

  bool at(std::string_view text) const { return left_.starts_with(text); }
  bool take(std::string_view text) {
    if (!at(text)) return false;
    left_.remove_prefix(text.size());
    return true;
  }
  std::uint32_t next() {
    if (left_.empty()) throw refused("it ends too early");
    const Character one = first_character(left_);
    left_.remove_prefix(one.length);
    return one.value;
  }

  // x|y|z, up to a ) or the end.
  void alternatives(bool folds) {
    if (++nesting_ > kMostNesting) throw refused("it is nested too deeply");
    std::vector<std::uint32_t> jumps;
    while (true) {
      const std::uint32_t split = emit({Op::split});
      sequence(folds);
      if (!take("|")) {
        code()[split] = {Op::jump, split + 1};
        break;
      }
      jumps.push_back(emit({Op::jump}));
      code()[split] = {Op::split, split + 1, here()};
    }
    for (const std::uint32_t jump : jumps) code()[jump].a = here();
    --nesting_;
  }

  void sequence(bool& folds) {
    while (!left_.empty() && !at("|") && !at(")")) {
      const std::uint32_t begin = here();
      const std::optional<std::uint32_t> single = item(folds);
      while (const std::optional<Times> times = quantifier()) repeat(begin, single && here() == begin + 1, *times);
    }
  }

  // Compiles an item; returns the set if it is one of characters.
  std::optional<std::uint32_t> item(bool& folds) {
    const auto of_set = [&](Set set) {
      set.folds = folds;
      const std::uint32_t number = keep(std::move(set));
      emit({Op::set, number});
      return number;
    };
    if (take("(")) {
      group(folds);
      return std::nullopt;
    }
    if (take("[")) return of_set(brackets());
    if (take(".")) {
      Set set;
      set.add(0, '\n' - 1);
      set.add('\n' + 1, kLastCharacter);
      return of_set(std::move(set));
    }
    const auto assertion = [&](std::string_view spelled, Op op) {
      if (!take(spelled)) return false;
      emit({op});
      return true;
    };
    if (assertion("^", Op::line_begin) || assertion("$", Op::line_end) || assertion("\\A", Op::text_begin) ||
        assertion("\\z", Op::text_end) || assertion("\\b", Op::boundary) || assertion("\\B", Op::no_boundary))
      return std::nullopt;
    if (at("*") || at("+") || at("?")) throw refused("it repeats nothing");
    Set set;
    if (at("\\"))
      escape(set);
    else {
      const std::uint32_t c = next();
      set.add(c, c);
    }
    return of_set(std::move(set));
  }

  void group(bool& folds) {
    const auto close = [&] {
      if (!take(")")) throw refused("a ( without a )");
    };
    const auto inner = [&](bool inner_folds) {
      alternatives(inner_folds);
      close();
    };
    const auto sub = [&](Op op) {
      const std::uint32_t begin = emit({op});
      inner(folds);
      emit({Op::done});
      code()[begin].a = here();
    };
    if (!take("?")) return inner(folds);
    if (take(":")) return inner(folds);
    if (take("i:")) return inner(true);
    if (take("-i:")) return inner(false);
    if (take("i)")) {
      // It holds up to the end of the group, alternatives included.
      folds = true;
      return alternatives(true);
    }
    if (take(">")) return sub(Op::atomic);
    if (take("=")) return sub(Op::ahead);
    if (take("!")) return sub(Op::not_ahead);
    if (at("<=") || at("<!")) {
      const Op op = take("<=") ? Op::behind : (take("<!"), Op::not_behind);
      const std::uint32_t begin = here();
      bool inner_folds = folds;
      const std::optional<std::uint32_t> set = item(inner_folds);
      if (!set || here() != begin + 1) throw refused("its (?<= or (?<! has more than one character");
      close();
      code()[begin] = {op, *set};
      return;
    }
    throw refused("an unknown kind of group");
  }

  std::optional<std::size_t> number() {
    if (left_.empty() || left_.front() < '0' || left_.front() > '9') return std::nullopt;
    std::size_t value = 0;
    while (!left_.empty() && left_.front() >= '0' && left_.front() <= '9') {
      value = value * 10 + static_cast<std::size_t>(left_.front() - '0');
      if (value > kMostTimes) throw refused(fmt::format("it repeats something more than {} times", kMostTimes));
      left_.remove_prefix(1);
    }
    return value;
  }

  std::optional<Times> quantifier() {
    using enum Times::Kind;
    std::optional<Times> times;
    if (take("*"))
      times = {0, kNone};
    else if (take("+"))
      times = {1, kNone};
    else if (take("?"))
      times = {0, 1};
    if (times) {
      if (take("+"))
        times->kind = possessive;
      else if (take("?"))
        times->kind = lazy;
      return times;
    }
    if (!at("{")) return std::nullopt;
    take("{");
    const std::optional<std::size_t> low = number();
    std::optional<std::size_t> high = low;
    if (take(",")) high = at("}") ? std::optional(kNone) : number();
    if (!take("}") || (!low && !high)) throw refused("a { that is not a number of times");
    times = {low.value_or(0), high.value_or(kNone)};
    if (times->high < times->low) throw refused("a { with numbers out of order");
    if (take("?")) times->kind = lazy;
    return times;
  }

  // Whether the code from `begin` to its end can match nothing: follows every way that takes no character.
  bool can_be_empty(std::uint32_t begin) {
    std::vector<bool> seen(here() + 1 - begin);
    std::vector<std::uint32_t> waiting = {begin};
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      waiting.pop_back();
      if (at >= here()) return true;
      if (seen[at - begin]) continue;
      seen[at - begin] = true;
      const Instruction& one = code()[at];
      switch (one.op) {
        case Op::set: break;
        case Op::run:
        case Op::run_only:
          if (one.low == 0) waiting.push_back(at + 1);
          break;
        case Op::split: waiting.push_back(one.b); [[fallthrough]];
        case Op::jump:
        case Op::ahead:
        case Op::not_ahead: waiting.push_back(one.a); break;
        case Op::atomic: return true;  // assumed; known patterns do not repeat one
        default: waiting.push_back(at + 1); break;
      }
    }
    return false;
  }

  void append_copy(const Code& piece, std::uint32_t from) {
    const std::uint32_t to = here();
    for (Instruction one : piece) {
      const bool jumps = one.op == Op::split || one.op == Op::jump || one.op == Op::ahead || one.op == Op::not_ahead ||
                         one.op == Op::atomic;
      if (jumps) one.a += to - from;
      if (one.op == Op::split) one.b += to - from;
      emit(one);
    }
  }

  void repeat(std::uint32_t begin, bool single, const Times& times) {
    using enum Times::Kind;
    const bool is_set = single && code()[begin].op == Op::set;
    if (is_set && times.kind != lazy) {
      code()[begin] = {times.kind == possessive ? Op::run_only : Op::run, code()[begin].a, 0, times.low, times.high};
      return;
    }
    if (times.high > 1 && can_be_empty(begin)) throw refused("it repeats what can be empty");
    const Code piece(code().begin() + begin, code().end());
    code().resize(begin);
    const std::uint32_t atomic = times.kind == possessive ? emit({Op::atomic}) : 0;
    for (std::size_t i = 0; i < times.low; ++i) append_copy(piece, begin);
    const auto choice = [&](std::uint32_t split, std::uint32_t inside, std::uint32_t outside) {
      code()[split] =
          times.kind == lazy ? Instruction{Op::split, outside, inside} : Instruction{Op::split, inside, outside};
    };
    if (times.high == kNone) {
      const std::uint32_t split = emit({Op::split});
      append_copy(piece, begin);
      emit({Op::jump, split});
      choice(split, split + 1, here());
    } else {
      std::vector<std::uint32_t> splits;
      for (std::size_t i = times.low; i < times.high; ++i) {
        splits.push_back(emit({Op::split}));
        append_copy(piece, begin);
      }
      for (const std::uint32_t split : splits) choice(split, split + 1, here());
    }
    if (times.kind == possessive) {
      emit({Op::done});
      code()[atomic].a = here();
    }
  }

  // ---- classes of characters ----

  std::uint32_t hexadecimal(std::size_t digits, std::string_view end) {
    std::uint32_t value = 0;
    std::size_t count = 0;
    const auto digit = [](char c) {
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    for (; count < digits && !left_.empty() && digit(left_.front()) >= 0; ++count) {
      value = value << 4 | static_cast<std::uint32_t>(digit(left_.front()));
      left_.remove_prefix(1);
    }
    if (count == 0 || value > kLastCharacter || !take(end))
      throw refused("\\u or \\x without the number of a character");
    return value;
  }

  void property(Set& set, bool negated) {
    if (!take("{")) throw refused("\\p without {");
    if (take("^")) negated = !negated;
    const std::size_t end = left_.find('}');
    if (end == left_.npos) throw refused("\\p{ without }");
    const std::string_view name = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    if (is(name, "Han")) {
      (negated ? set.not_han : set.han) = true;
      return;
    }
    if (is(name, "White_Space") || is(name, "Space")) {
      (negated ? set.not_space : set.space) = true;
      return;
    }
    const Categories found = categories_named(name);
    if (found == 0) throw refused(fmt::format("the property {} is not known", quote(name)));
    set.categories |= negated ? ~found : found;
  }

  // Adds an escape to the set. Returns the character if it is a single one.
  std::optional<std::uint32_t> escape(Set& set) {
    take("\\");
    const std::uint32_t c = next();
    const auto one = [&](std::uint32_t character) {
      set.add(character, character);
      return std::optional(character);
    };
    switch (c) {
      case 'p': property(set, false); return std::nullopt;
      case 'P': property(set, true); return std::nullopt;
      case 's': set.space = true; return std::nullopt;
      case 'S': set.not_space = true; return std::nullopt;
      case 'w': set.word = true; return std::nullopt;
      case 'W': set.not_word = true; return std::nullopt;
      case 'd': set.categories |= categories_named("Nd"); return std::nullopt;
      case 'D': set.categories |= ~categories_named("Nd"); return std::nullopt;
      case 'h':
        set.add('0', '9');
        set.add('a', 'f');
        set.add('A', 'F');
        return std::nullopt;
      case 'r': return one('\r');
      case 'n': return one('\n');
      case 't': return one('\t');
      case 'f': return one('\f');
      case 'v': return one('\v');
      case 'u': return one(hexadecimal(4, ""));
      case 'x': return take("{") ? one(hexadecimal(6, "}")) : one(hexadecimal(2, ""));
      default: break;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) throw refused(fmt::format("\\{} is not known", static_cast<char>(c)));
    return one(c);
  }

  // After the [.
  Set brackets() {
    if (++nesting_ > kMostNesting) throw refused("it is nested too deeply");
    Set set;
    const bool negated = take("^");
    for (bool first = true; first || !at("]"); first = false) {
      if (take("&&")) {
        // Everything up to the end is the other set.
        set.others.push_back(rest_of_brackets());
        break;
      }
      if (at("[:")) throw refused("a class in [: :]");
      if (take("[")) {
        set.parts.push_back(brackets());
        continue;
      }
      one_or_range(set);
    }
    if (!take("]")) throw refused("a [ without a ]");
    set.negated = negated;
    --nesting_;
    return set;
  }

  // What follows && in brackets, without the ].
  Set rest_of_brackets() {
    if (++nesting_ > kMostNesting) throw refused("it is nested too deeply");
    Set set;
    while (!at("]")) {
      if (take("&&")) {
        set.others.push_back(rest_of_brackets());
        break;
      }
      if (take("["))
        set.parts.push_back(brackets());
      else
        one_or_range(set);
    }
    --nesting_;
    return set;
  }

  void one_or_range(Set& set) {
    std::optional<std::uint32_t> first;
    if (at("\\"))
      first = escape(set);
    else {
      first = next();
      set.add(*first, *first);
    }
    if (!first || !at("-") || at("-]")) return;
    take("-");
    Set end;
    const std::optional<std::uint32_t> last = at("\\") ? escape(end) : std::optional(next());
    if (!last || *last < *first) throw refused("a range of characters out of order");
    set.add(*first, *last);
  }

  std::string_view all_, left_;
  Pattern::Program& program_;
  std::size_t nesting_ = 0, emitted_ = 0;
};

// ---- matching ----

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
  // Where to go on if a way fails. `at` > `low`: after this, once more at each character before, down to `low`.
  struct Place {
    std::uint32_t pc;
    std::size_t at, low;
  };

  void charge(std::uint64_t count) { budget_.charge(count); }

  void wait(const Place& place) {
    if (waiting_.size() >= budget_.most_places()) charge(UINT64_MAX);
    waiting_.push_back(place);
  }

  bool take(const Set& set, std::size_t& at) {
    if (at >= text_.size()) return false;
    const Character next = first_character(text_.substr(at));
    charge(set.price_of(next.value) - 1);  // the first step is the instruction's
    if (!set.has(next.value)) return false;
    at += next.length;
    return true;
  }

  bool run(const Instruction& one, std::uint32_t pc, std::size_t& at) {
    const Set& set = program_.sets[one.a];
    std::size_t count = 0, low = at;
    while (count < one.high && take(set, at))
      if (++count <= one.low) low = at;
    charge(count);
    if (count < one.low) return false;
    if (one.op == Op::run && at > low) {
      const std::size_t fewer = at - last_length(text_.substr(0, at));
      wait({pc + 1, fewer, low});
    }
    return true;
  }

  bool behind(const Set& set, std::size_t at) {
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

}  // namespace

Pattern::Pattern(std::string_view regex) {
  auto program = std::make_shared<Program>();
  Compiler(regex, *program).run();
  program_ = std::move(program);
}

Pattern Pattern::literal(std::string_view text) {
  auto program = std::make_shared<Program>();
  for (std::string_view left = text; !left.empty();) {
    const Character one = first_character(left);
    left.remove_prefix(one.length);
    Set set;
    set.add(one.value, one.value);
    set.finish();
    program->code.push_back({Op::set, static_cast<std::uint32_t>(program->sets.size())});
    program->sets.push_back(std::move(set));
  }
  program->code.push_back({Op::done});
  Pattern pattern;
  pattern.program_ = std::move(program);
  return pattern;
}

std::optional<Pattern::Match> Pattern::find(std::string_view text, std::size_t from, TextBudget& budget) const {
  Matcher matcher(*program_, text, budget);
  while (from < text.size()) {
    const std::size_t end = matcher.match(0, from);
    if (end != kNone && end > from) return Match{from, end};
    from += first_character(text.substr(from)).length;
  }
  return std::nullopt;
}

}  // namespace tare::tokenize
