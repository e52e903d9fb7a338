#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

std::string option_left(const Option& option) {
  const std::string letter = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  return letter + spelling(option);
}

std::string option_right(const Option& option) {
  std::string text(option.help);
  if (option.words != nullptr) text += fmt::format(": {}", fmt::join(option.words(), ", "));
  return text;
}

}  // namespace

HelpLook help_look(const Session& session) {
  return {session.screen().terminal ? std::min(session.screen().columns, kWidest) : 80, session.screen().color};
}

std::string general_help(const HelpLook& look) {
  std::string out =
      fmt::format("tare: {}\n\n{} tare VERB [OPTION...] [OPERAND...]\n\n", kTagline, heading("Usage:", look));
  std::size_t columns = 0;
  for (const Verb* verb : verbs())
    if (!verb->hidden) columns = std::max(columns, verb->name.size() + 1 + operands_text(*verb).size());
  columns = std::min<std::size_t>(columns, 22);
  out += heading("Verbs:", look) + "\n";
  for (const Verb* verb : verbs()) {
    if (verb->hidden) continue;
    std::string left(verb->name);
    if (const std::string operands = operands_text(*verb); !operands.empty()) left += ' ' + operands;
    append_entry(out, left, columns, verb->summary, look);
  }
  out +=
      fmt::format("\n`tare help VERB` explains a verb; {} are for installers.\n`tare --version` prints the version.\n",
                  fmt::join(hidden_verbs(), " and "));
  return out;
}

std::string verb_help(const Verb& verb, const HelpLook& look) {
  const std::string operands = operands_text(verb);
  std::string out = fmt::format("{} tare {}{}{}{}\n\n", heading("Usage:", look), verb.name,
                                verb.options.empty() ? "" : " [OPTION...]", operands.empty() ? "" : " ", operands);
  for (const std::string& line : wrap(description_of(verb), look.columns)) out += line + "\n";

  out += fmt::format("\n{}\n", heading("Options:", look));
  std::size_t columns = 0;
  const auto options = options_of(verb);
  for (const Option& option : options) columns = std::max(columns, option_left(option).size());
  columns = std::min<std::size_t>(columns, 24);
  for (const Option& option : options) append_entry(out, option_left(option), columns, option_right(option), look);

  if (!verb.examples.empty())
    out += fmt::format("\n{}\n", heading(verb.examples.size() > 1 ? "Examples:" : "Example:", look));
  for (const Example& example : verb.examples) out += fmt::format("  {}\n      {}\n", example.command, example.meaning);
  return out;
}

}  // namespace tare::cli
