#include "arch/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "arch/patterns.hpp"

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
  constexpr std::string_view before(Role role) const { return role == Role::output_head ? head : body; }
};
constexpr RootText kRoots[] = {
    {"model.", ""}, {"", ""}, {"language_model.model.", "language_model."}, {"model.language_model.", ""}};

constexpr std::string_view kRootNames[] = {"model", "bare", "language_model.model", "model.language_model"};

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

std::optional<TensorName> parse_by(Patterns patterns, Dialect dialect, std::string_view name) {
  const std::span<const RootText> roots = roots_of(dialect);
  for (const Pattern& pattern : patterns) {
    if (pattern.in(dialect).empty()) continue;
    for (std::size_t root = 0; root < roots.size(); ++root) {
      std::string_view rest = name;
      if (!take(rest, roots[root].before(pattern.role))) continue;
      auto found = matched(pattern, dialect, rest);
      if (!found) continue;
      found->root = static_cast<Root>(root);
      return found;
    }
  }
  return std::nullopt;
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
  for (const Patterns patterns : family.names)
    if (const auto found = parse_by(patterns, dialect, name)) return found;
  return std::nullopt;
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
    for (const Patterns patterns : kAllPatterns)
      if (const auto found = parse_by(patterns, dialect, name)) return found->role;
  return Role::other;
}

}  // namespace tare::arch
