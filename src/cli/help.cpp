#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/options.hpp"
#include "cli/text.hpp"

namespace tare::cli {
namespace {

// Wider lines are hard to read, even if the output is not a terminal.
constexpr std::size_t kWidest = 100;

std::string heading(std::string_view text, const HelpLook& look) { return styled(Style::bold, text, look.color); }

// Appends "  left   right", with `right` wrapped and indented.
void append_entry(std::string& out, std::string_view left, std::size_t left_columns, std::string_view right,
                  const HelpLook& look) {
  const std::size_t indent = left_columns + 4;
  out += fmt::format("  {:<{}}", left, left_columns);
  if (display_width(left) > left_columns) out += fmt::format("\n{:{}}", "", indent - 2);
  const auto lines = wrap(right, std::max<std::size_t>(24, look.columns - std::min(look.columns, indent)));
  for (std::size_t i = 0; i < lines.size(); ++i) out += fmt::format("{:{}}{}\n", "", i == 0 ? 2 : indent, lines[i]);
}

// Returns the verbs for installers and shells, which are omitted from the main list.
Words hidden_verbs() {
  Words names;
  for (const Verb* verb : verbs())
    if (verb->hidden) names.push_back(fmt::format("`{}`", verb->name));
  return names;
}

// Returns for example "ls FILE".
std::string call_of(const Verb& verb) {
  const std::string operands = operands_text(verb);
  return fmt::format("{}{}{}", verb.name, operands.empty() ? "" : " ", operands);
}

std::string option_left(const Option& option) {
  const std::string letter = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  return letter + spelling(option);
}

// Returns the words, without full names such as "zt.group4" whose short name means the same.
Words shown_words(const Option& option) {
  Words words = option.words();
  const Words all = words;
  std::erase_if(words, [&](const std::string& word) {
    const std::size_t dot = word.find('.');
    return dot != word.npos && std::ranges::find(all, word.substr(dot + 1)) != all.end();
  });
  return words;
}

// `brief`: of many words, the first ones.
std::string option_right(const Verb& verb, const Option& option, bool brief) {
  constexpr std::size_t kMostShown = 24;
  std::string text = help_of(verb, option);
  if (option.words == nullptr) return text;
  const Words words = shown_words(option);
  const std::size_t count = brief ? std::min(words.size(), kMostShown) : words.size();
  text += fmt::format(": {}", fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  if (count != words.size()) text += fmt::format(" and {} others", words.size() - count);
  return text;
}

std::string usage(const Verb& verb, const HelpLook& look) {
  const std::string operands = operands_text(verb);
  return fmt::format("{} tare {}{}{}{}\n", heading("Usage:", look), verb.name,
                     verb.options.empty() ? "" : " [OPTION...]", operands.empty() ? "" : " ", operands);
}

// Whether the option means the same for most verbs: how files are read, and what the output looks like.
bool is_common(const Option& option) {
  const auto same = [&](const Option& other) { return other.name == option.name; };
  return same(kNoMmap) || same(kMaxExpansion) || same(kThreads) || std::ranges::any_of(universal_options(), same);
}

// Appends the options under the headings of their sections; those that verbs have in common come last. `brief`: only the
// first section, without what verbs have in common.
void append_options(std::string& out, const Verb& verb, bool brief, const HelpLook& look) {
  auto options = options_of(verb);
  std::size_t columns = 0;
  for (const Option& option : options) columns = std::max(columns, option_left(option).size());
  columns = std::min<std::size_t>(columns, 24);
  const auto append = [&](std::string_view title, std::span<const Option> some) {
    if (!title.empty() && !some.empty()) out += fmt::format("\n{}\n", heading(fmt::format("{}:", title), look));
    for (const Option& option : some)
      append_entry(out, option_left(option), columns, option_right(verb, option, brief), look);
  };
  if (verb.sections.empty()) {
    const auto common =
        std::stable_partition(options.begin(), options.end(), [](const Option& option) { return !is_common(option); });
    const auto own = std::span<const Option>(options).first(static_cast<std::size_t>(common - options.begin()));
    append("Options", own);
    if (!brief) append("Common options", std::span<const Option>(options).subspan(own.size()));
    return;
  }
  for (const Option& option : options) {
    const auto section = std::ranges::find(verb.sections, option.name, &OptionSection::first);
    if (brief && section != verb.sections.end() && section != verb.sections.begin()) return;
    append(section == verb.sections.end() ? std::string_view() : section->title, std::span<const Option>(&option, 1));
  }
}

void append_examples(std::string& out, const Verb& verb, const HelpLook& look) {
  if (!verb.examples.empty())
    out += fmt::format("\n{}\n", heading(verb.examples.size() > 1 ? "Examples:" : "Example:", look));
  for (const Example& example : verb.examples) out += fmt::format("  {}\n      {}\n", example.command, example.meaning);
}

}  // namespace

HelpLook help_look(const Session& session) {
  return {session.screen().terminal ? std::min(session.screen().columns, kWidest) : 80, session.screen().color};
}

std::string general_help(const HelpLook& look) {
  std::string out = fmt::format("tare: {}\n{} tare FILE... or tare VERB [OPTION...] [OPERAND...]\n", kTagline,
                                heading("Usage:", look));
  std::size_t columns = 0;
  for (const VerbGroup& group : verb_groups())
    for (const Verb* verb : group.verbs) columns = std::max(columns, call_of(*verb).size());
  Words others = verb_names();
  std::erase_if(others, [](const std::string& name) { return name == "help" || name == "version"; });
  for (const VerbGroup& group : verb_groups()) {
    out += fmt::format("\n{}\n", heading(fmt::format("{}:", group.title), look));
    for (const Verb* verb : group.verbs) {
      append_entry(out, call_of(*verb), columns, verb->summary, look);
      std::erase(others, verb->name);
    }
  }
  out += '\n';
  for (const std::string& line :
       wrap(fmt::format("More: {} (`tare help --all`)", fmt::join(others, ", ")), look.columns))
    out += line + "\n";
  return out + "`tare help VERB` explains one. FILE is a path, URL, hf:ORG/NAME or ollama:NAME.\n";
}

std::string all_verbs(const HelpLook& look) {
  std::string out = heading("Verbs:", look) + "\n";
  std::size_t columns = 0;
  for (const Verb* verb : verbs())
    if (!verb->hidden) columns = std::max(columns, call_of(*verb).size());
  columns = std::min<std::size_t>(columns, 22);
  for (const Verb* verb : verbs())
    if (!verb->hidden) append_entry(out, call_of(*verb), columns, verb->summary, look);
  return out + fmt::format("\n{} are for installers.\n", fmt::join(hidden_verbs(), " and "));
}

// A verb with many options shows them first, after one paragraph: the rest of the description comes last.
std::string verb_help(const Verb& verb, const HelpLook& look) {
  std::string out = usage(verb, look) + "\n";
  const std::string description = description_of(verb);
  const std::size_t first = verb.sections.empty() ? description.npos : description.find("\n\n");
  for (const std::string& line : wrap(std::string_view(description).substr(0, first), look.columns)) out += line + "\n";
  append_options(out, verb, false, look);
  append_examples(out, verb, look);
  if (first == description.npos) return out;
  out += fmt::format("\n{}\n", heading("Details:", look));
  for (const std::string& line : wrap(std::string_view(description).substr(first + 2), look.columns))
    out += line + "\n";
  return out;
}

std::string short_help(const Verb& verb, const HelpLook& look) {
  std::string out = usage(verb, look) + "\n" + sentence_case(verb.summary) + ".\n";
  append_examples(out, verb, look);
  append_options(out, verb, true, look);
  Words others;
  for (const Option& option : options_of(verb))
    if (verb.sections.empty() && is_common(option) && option.name != "help")
      others.push_back(fmt::format("--{}", option.name));
  const std::string more =
      verb.sections.empty()
          ? fmt::format("`tare help {}` explains everything, also {}.", verb.name, fmt::join(others, ", "))
          : fmt::format("`tare help {}` explains everything, with all {} options.", verb.name, options_of(verb).size());
  out += '\n';
  for (const std::string& line : wrap(more, look.columns)) out += line + "\n";
  return out;
}

}  // namespace tare::cli
