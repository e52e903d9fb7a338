#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/budget.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"
#include "tokenize/case_folding.hpp"
#include "tokenize/pattern_program.hpp"
#include "tokenize/unicode.hpp"

namespace tare::tokenize {
namespace {

using namespace matching;

// Real patterns have at most a few hundred instructions and a nesting of four.
constexpr std::size_t kMostInstructions = 20000, kMostNesting = 24, kMostTimes = 1000;
// Repetitions copy what they repeat, and one may follow another: (x){1}{1}{1}.
constexpr std::size_t kMostEmitted = 50 * kMostInstructions;
constexpr std::uint64_t kStepsToCompare = 100;  // a few letters with all characters that equal several

std::uint16_t limit(std::size_t times) { return times == kNone ? kNoLimit : static_cast<std::uint16_t>(times); }

class Compiler {
 public:
  Compiler(std::string_view regex, Pattern::Program& program) : all_(regex), left_(regex), program_(program) {}

  void run() {
    if (!is_valid_utf8(all_)) throw refused("it is not UTF-8");
    alternatives(false);
    if (!left_.empty()) throw refused("a ) without a (");
    program_.may_be_empty = can_be_empty(0);
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

  // Emits a match of the set that `source` begins with. If it appeared before, it is the same set.
  std::uint32_t emit_set(std::string_view source, bool folds, CharacterSet set, bool negated) {
    source.remove_suffix(left_.size());
    const auto [known, is_new] =
        known_[folds ? 1 : 0].try_emplace(source, static_cast<std::uint32_t>(program_.sets.size()));
    if (is_new) {
      if (folds) {
        if (!negated && set.equals_several()) throw refused("a letter equals two others if case does not count");
        set.ignore_case();
      }
      if (negated) set.negate();
      set.finish();
      program_.sets.push_back(std::move(set));
    }
    emit({Op::set, known->second});
    return known->second;
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
    const std::string_view source = left_;
    const std::u32string row = std::exchange(row_, {});
    if (take("(")) {
      group(folds);
      row_.clear();
      return std::nullopt;
    }
    if (take("[")) {
      auto [set, negated] = brackets();
      return emit_set(source, folds, std::move(set), negated);
    }
    if (take(".")) return emit_set(source, false, CharacterSet({{'\n', '\n'}}), true);
    const auto assertion = [&](std::string_view spelled, Op op) {
      if (!take(spelled)) return false;
      emit({op});
      return true;
    };
    if (assertion("^", Op::line_begin) || assertion("$", Op::line_end) || assertion("\\A", Op::text_begin) ||
        assertion("\\z", Op::text_end) || assertion("\\b", Op::boundary) || assertion("\\B", Op::no_boundary))
      return std::nullopt;
    if (at("*") || at("+") || at("?")) throw refused("it repeats nothing");
    Members one;
    const std::optional<std::uint32_t> single = at("\\") ? escape(one) : std::optional(next());
    // Ignoring case changes letters and sets in brackets only, not classes such as \p{Lu}.
    if (!single) return emit_set(source, false, std::move(one).set(), false);
    if (folds) require_no_equal(row, *single);
    return emit_set(source, folds, CharacterSet({{*single, *single}}), false);
  }

  // `row`: the letters before this one, with nothing between.
  void require_no_equal(std::u32string row, std::uint32_t letter) {
    constexpr std::size_t kLongest = 3;
    if (at("*") || at("+") || at("?") || at("{")) return;
    charge_steps(kStepsToCompare);
    row += static_cast<char32_t>(letter);
    if (CaseFolding::ends_like_one(row)) throw refused("two letters equal a single one if case does not count");
    row_ = row.substr(row.size() - std::min(row.size(), kLongest));
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
        case Op::character:
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
      code()[begin] = {times.kind == possessive ? Op::run_only : Op::run, code()[begin].a, 0, limit(times.low),
                       limit(times.high)};
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

  // What a class is put together from.
  struct Members {
    std::vector<CharacterSet::Range> ranges;
    Kinds kinds = 0;
    std::vector<CharacterSet> parts;

    void add(std::uint32_t first, std::uint32_t last) { ranges.emplace_back(first, last); }
    CharacterSet set() && {
      if (!ranges.empty()) parts.emplace_back(std::move(ranges));
      if (kinds != 0) parts.emplace_back(kinds);
      return CharacterSet::united(std::move(parts));
    }
  };

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
    if (count == 0 || value > CharacterSet::kLast || !take(end))
      throw refused("\\u or \\x without the number of a character");
    return value;
  }

  void property(Members& set, bool negated) {
    if (!take("{")) throw refused("\\p without {");
    if (take("^")) negated = !negated;
    const std::size_t end = left_.find('}');
    if (end == left_.npos) throw refused("\\p{ without }");
    const std::string_view name = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    const Kinds kinds = is(name, "Han")                                ? han_kinds()
                        : is(name, "White_Space") || is(name, "Space") ? white_space_kinds()
                                                                       : kinds_of(categories_named(name));
    if (kinds == 0) throw refused(fmt::format("the property {} is not known", quote(name)));
    set.kinds |= negated ? ~kinds : kinds;
  }

  // Adds an escape to the set. Returns the character if it is a single one.
  std::optional<std::uint32_t> escape(Members& set) {
    take("\\");
    const std::uint32_t c = next();
    const auto one = [](std::uint32_t character) { return std::optional(character); };
    switch (c) {
      case 'p': property(set, false); return std::nullopt;
      case 'P': property(set, true); return std::nullopt;
      case 's': set.kinds |= white_space_kinds(); return std::nullopt;
      case 'S': set.kinds |= ~white_space_kinds(); return std::nullopt;
      case 'w': set.kinds |= word_kinds(); return std::nullopt;
      case 'W': set.kinds |= ~word_kinds(); return std::nullopt;
      case 'd': set.kinds |= kinds_of(categories_named("Nd")); return std::nullopt;
      case 'D': set.kinds |= ~kinds_of(categories_named("Nd")); return std::nullopt;
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

  struct Brackets {
    CharacterSet set;
    bool negated;
  };

  // After the [.
  Brackets brackets() {
    if (++nesting_ > kMostNesting) throw refused("it is nested too deeply");
    const bool negated = take("^");
    Members members;
    std::optional<CharacterSet> other;
    for (bool first = true; first || !at("]"); first = false) {
      if (take("&&")) {
        other = rest_of_brackets();  // everything up to the end
        break;
      }
      if (at("[:")) throw refused("a class in [: :]");
      member(members);
    }
    if (!take("]")) throw refused("a [ without a ]");
    --nesting_;
    CharacterSet set = std::move(members).set();
    if (other) set.intersect(*other);
    return {std::move(set), negated};
  }

  // What follows && in brackets, without the ].
  CharacterSet rest_of_brackets() {
    if (++nesting_ > kMostNesting) throw refused("it is nested too deeply");
    Members members;
    std::optional<CharacterSet> other;
    while (!other && !at("]"))
      if (take("&&"))
        other = rest_of_brackets();
      else
        member(members);
    --nesting_;
    CharacterSet set = std::move(members).set();
    if (other) set.intersect(*other);
    return set;
  }

  void member(Members& members) {
    charge_steps();
    if (!take("[")) return one_or_range(members);
    auto [set, negated] = brackets();
    if (negated) set.negate();
    members.parts.push_back(std::move(set));
  }

  void one_or_range(Members& set) {
    const std::optional<std::uint32_t> first = at("\\") ? escape(set) : std::optional(next());
    if (!first) return;
    if (!at("-") || at("-]")) return set.add(*first, *first);
    take("-");
    Members end;
    const std::optional<std::uint32_t> last = at("\\") ? escape(end) : std::optional(next());
    if (!last || *last < *first) throw refused("a range of characters out of order");
    set.add(*first, *last);
  }

  std::string_view all_, left_;
  Pattern::Program& program_;
  std::size_t nesting_ = 0, emitted_ = 0;
  std::u32string row_;  // the letters just before, if case does not count and nothing is between
  std::array<NameViewMap<std::uint32_t>, 2> known_;  // sets by their source, as they are and without case
};

}  // namespace

void compile(std::string_view regex, Pattern::Program& program) { Compiler(regex, program).run(); }

}  // namespace tare::tokenize
