#include "arch/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>

#include "arch/patterns.hpp"
#include "arch/towers.hpp"
#include "base/forever.hpp"
#include "base/name_map.hpp"

namespace tare::arch {
namespace {

std::optional<std::string_view> text_of(Suffix suffix, const Pattern& pattern, Dialect dialect) {
  const bool usual = dialect == Dialect::gguf ? pattern.gguf_end == ".weight" : !pattern.bare;
  if (suffix == Suffix::bias) return usual ? std::optional<std::string_view>(".bias") : std::nullopt;
  return dialect == Dialect::gguf ? pattern.gguf_end : usual ? ".weight" : "";
}

// The output head has a different prefix than the other tensors.
struct RootText {
  std::string_view body, head;
  constexpr std::string_view before(Role role) const {
    return role == Role::output_head || is_of_classifier(role) ? head : body;
  }
};
constexpr RootText kRoots[] = {{"model.", ""},
                               {"", ""},
                               {"language_model.model.", "language_model."},
                               {"model.language_model.", ""},
                               {"transformer.", ""},
                               {"gpt_neox.", ""},
                               {"backbone.", ""},
                               {"model.text_model.", ""},
                               {"bert.", ""},
                               {"roberta.", ""}};

constexpr std::string_view kRootNames[] = {"model",
                                           "bare",
                                           "language_model.model",
                                           "model.language_model",
                                           "transformer",
                                           "gpt_neox",
                                           "backbone",
                                           "model.text_model",
                                           "bert",
                                           "roberta"};

std::span<const RootText> roots_of(Dialect dialect) {
  static constexpr RootText kNone[] = {{"", ""}};
  if (dialect == Dialect::hugging_face) return kRoots;
  return kNone;
}

std::optional<std::uint32_t> take_number(std::string_view& text) {
  constexpr std::size_t kMostDigits = 10;
  const std::size_t digits = std::min(text.substr(0, kMostDigits + 1).find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || (digits > 1 && text.front() == '0')) return std::nullopt;
  std::uint32_t number = 0;
  if (std::from_chars(text.data(), text.data() + digits, number).ec != std::errc()) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// Matches a name without its root against one pattern.
std::optional<TensorName> matched(const Pattern& pattern, Dialect dialect, std::string_view name) {
  TensorName found{.role = pattern.role};
  for (std::string_view text = pattern.in(dialect); !text.empty();) {
    const std::string_view fixed = text.substr(0, text.find('{'));
    if (!take(name, fixed)) return std::nullopt;
    text.remove_prefix(fixed.size());
    if (text.empty()) break;
    const auto number = take_number(name);
    if (!number) return std::nullopt;
    (text[1] == 'L' ? found.layer : found.expert) = number;
    text.remove_prefix(std::string_view("{L}").size());
  }
  for (const Suffix suffix : {Suffix::weight, Suffix::bias}) {
    if (name != text_of(suffix, pattern, dialect)) continue;
    found.suffix = suffix;
    return found;
  }
  return std::nullopt;
}

// All patterns by the form of their names, so that a name is compared with a few of them instead of a thousand.
class Index {
 public:
  explicit Index(Dialect dialect) {
    std::set<const Pattern*> added;
    const auto add = [&](Patterns patterns) {
      for (const Pattern& pattern : patterns) {
        if (!added.insert(&pattern).second) continue;
        for (const Suffix suffix : {Suffix::weight, Suffix::bias})
          if (const auto end = text_of(suffix, pattern, dialect); end && !pattern.in(dialect).empty())
            patterns_[form_of(std::string(pattern.in(dialect)).append(*end))].push_back(&pattern);
      }
    };
    for (const Patterns patterns : kAllPatterns) add(patterns);
    for (const Family& family : families())
      for (const Patterns patterns : family.names) add(patterns);
    for (const Tower& tower : towers())
      for (const Patterns patterns : tower.form.names) add(patterns);
  }

  // Made when it is needed first.
  static const Index& of(Dialect dialect) {
    switch (dialect) {
      case Dialect::hugging_face: return made<Dialect::hugging_face>();
      case Dialect::gguf: return made<Dialect::gguf>();
      case Dialect::meta: return made<Dialect::meta>();
      case Dialect::tiny_llama: break;
    }
    return made<Dialect::tiny_llama>();
  }

  // A name with "#" in place of each number and each variable.
  static std::string form_of(std::string_view name) {
    std::string form;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const bool variable = name[i] == '{' && name.size() - i >= kVariable, digit = name[i] >= '0' && name[i] <= '9';
      if (!variable && !digit)
        form += name[i];
      else if (form.empty() || form.back() != '#')
        form += '#';
      if (variable) i += kVariable - 1;
    }
    return form;
  }

  // Those that may match a name of this form, in the order of the table.
  std::span<const Pattern* const> find(std::string_view form) const {
    const auto found = patterns_.find(form);
    return found == patterns_.end() ? std::span<const Pattern* const>() : found->second;
  }

 private:
  static constexpr std::size_t kVariable = std::string_view("{L}").size();

  template <Dialect kDialect>
  static const Index& made() {
    static Forever<Index> index(kDialect);
    return *index;
  }

  NameMap<std::vector<const Pattern*>> patterns_;
};

constexpr std::size_t kNoRank = SIZE_MAX;

struct Match {
  std::size_t rank = kNoRank;
  TensorName name = {};
};

// The pattern that matches a name and has the lowest rank(pattern); kNoRank excludes a pattern. Roots contain no numbers,
// so the form of a name begins with its root, as the name does.
template <typename Rank>
std::optional<Match> best_match(Dialect dialect, std::string_view name, const Rank& rank) {
  constexpr std::size_t kLongest = 256;  // twice as long as a name can be
  if (name.size() > kLongest) return std::nullopt;
  const std::span<const RootText> roots = roots_of(dialect);
  const Index& index = Index::of(dialect);
  const std::string form = Index::form_of(name);
  std::optional<Match> best;
  for (std::size_t root = 0; root < roots.size(); ++root)
    for (const std::string_view before : {roots[root].body, roots[root].head}) {
      std::string_view rest = form;
      if (!take(rest, before)) continue;
      for (const Pattern* const pattern : index.find(rest)) {
        if (roots[root].before(pattern->role) != before) continue;
        const std::size_t here = rank(*pattern);
        if (here == kNoRank || (best && here >= best->rank)) continue;
        const auto found = matched(*pattern, dialect, name.substr(before.size()));
        if (!found) continue;
        best = {here, *found};
        best->name.root = static_cast<Root>(root);
      }
    }
  return best;
}

// The place of a pattern among those of a family.
std::size_t rank_in(const Family& family, const Pattern& pattern) {
  std::size_t before = 0;
  for (const Patterns patterns : family.names) {
    if (!std::less<>()(&pattern, patterns.data()) && std::less<>()(&pattern, patterns.data() + patterns.size()))
      return before + static_cast<std::size_t>(&pattern - patterns.data());
    before += patterns.size();
  }
  return kNoRank;
}

std::size_t first_family_with(const Pattern& pattern) {
  const auto all = families();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (rank_in(all[i], pattern) != kNoRank) return i;
  return kNoRank;
}

bool has_place_for(std::string_view pattern, std::string_view variable) {
  return pattern.find(variable) != std::string_view::npos;
}

}  // namespace

std::string_view name_of(Root root) { return kRootNames[static_cast<std::size_t>(root)]; }

std::optional<Root> parse_root(std::string_view name) {
  const auto* const found = std::ranges::find(kRootNames, name);
  if (found == std::end(kRootNames)) return std::nullopt;
  return static_cast<Root>(found - std::begin(kRootNames));
}

std::optional<TensorName> parse(const Family& family, Dialect dialect, std::string_view name) {
  const auto found = best_match(dialect, name, [&](const Pattern& pattern) { return rank_in(family, pattern); });
  return found ? std::optional(found->name) : std::nullopt;
}

std::optional<Recognized> recognize(std::string_view name) {
  std::optional<Recognized> best;
  std::size_t rank = kNoRank;
  for (const Dialect dialect : kDialects)
    if (const auto found = best_match(dialect, name, first_family_with); found && found->rank < rank) {
      rank = found->rank;
      best = {&families()[rank], dialect, found->name};
    }
  return best;
}

const Pattern* find_row(const Family& family, Dialect dialect, const TensorName& name) {
  for (const Patterns patterns : family.names)
    for (const Pattern& pattern : patterns) {
      const std::string_view text = pattern.in(dialect);
      if (pattern.role == name.role && !text.empty() && text_of(name.suffix, pattern, dialect) &&
          has_place_for(text, "{L}") == name.layer.has_value() && has_place_for(text, "{E}") == name.expert.has_value())
        return &pattern;
    }
  return nullptr;
}

const Pattern* find_maker(const Family& family, Role role) {
  for (const Patterns patterns : family.names)
    for (const Pattern& pattern : patterns)
      if (!pattern.hugging_face.empty() &&
          std::ranges::any_of(pattern.steps, [&](const Step& step) { return step.makes(role); }))
        return &pattern;
  return nullptr;
}

const Step* find_step(const Family& family, Role role, Verb verb) {
  for (const Patterns patterns : family.names)
    for (const Pattern& pattern : patterns) {
      const auto found = std::ranges::find(pattern.steps, verb, &Step::verb);
      if (pattern.role == role && found != pattern.steps.end()) return &*found;
    }
  return nullptr;
}

std::optional<std::string> spell(const Family& family, Dialect dialect, const TensorName& name) {
  const Pattern* const row = find_row(family, dialect, name);
  if (row == nullptr) return std::nullopt;
  const auto roots = roots_of(dialect);
  const auto root = static_cast<std::size_t>(name.root);
  std::string result(roots[root < roots.size() ? root : 0].before(name.role));
  for (std::string_view text = row->in(dialect); !text.empty();) {
    const std::string_view fixed = text.substr(0, text.find('{'));
    result += fixed;
    text.remove_prefix(fixed.size());
    if (text.empty()) break;
    result += fmt::format("{}", text[1] == 'L' ? *name.layer : *name.expert);
    text.remove_prefix(std::string_view("{L}").size());
  }
  result += *text_of(name.suffix, *row, dialect);
  return result;
}

Role role_of(std::string_view name) {
  for (const Dialect dialect : kDialects)
    if (const auto found = best_match(dialect, name, [](const Pattern&) { return std::size_t{0}; }))
      return found->name.role;
  return Role::other;
}

}  // namespace tare::arch
