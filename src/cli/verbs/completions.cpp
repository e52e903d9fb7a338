// completions: scripts for bash, zsh and fish, made from the table of verbs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "options/words.hpp"

namespace tare::cli::completions_verb {
namespace {

std::vector<const Verb*> shown_verbs() {
  std::vector<const Verb*> shown;
  for (const Verb* verb : verbs())
    if (!verb->hidden) shown.push_back(verb);
  return shown;
}

std::string in_quotes(std::string_view text) { return fmt::format("'{}'", inside_shell_quotes(text)); }

bool takes_files(const Verb& verb) {
  for (const Operand& operand : verb.operands)
    if (operand.completes == Completes::files || operand.completes == Completes::directories) return true;
  return false;
}

bool takes_tensors(const Verb& verb) {
  for (const Operand& operand : verb.operands)
    if (operand.completes == Completes::tensors) return true;
  return false;
}

Words alias_words() {
  Words words;
  for (const Alias& alias : aliases()) words.emplace_back(alias.word);
  return words;
}

// The verb's name and its aliases, with this between them.
std::string names_of(const Verb& verb, char between) {
  std::string names(verb.name);
  for (const Alias& alias : aliases())
    if (alias.verb == verb.name) names += fmt::format("{}{}", between, alias.word);
  return names;
}

// The words that a value may be, as far as they are known.
Words words_of(const Option& option) {
  if (option.words != nullptr) return option.words();
  return option.completes == Completes::methods ? method_words() : Words();
}

bool takes_verbs(const Verb& verb) { return !verb.operands.empty() && verb.operands[0].completes == Completes::verbs; }

// ---- bash

std::string bash_option_values(const Verb& verb) {
  std::string out;
  for (const Option& option : options_of(verb)) {
    if (option.value.empty() || option.optional_value) continue;
    std::string pattern = fmt::format("--{}", option.name);
    if (option.letter != 0) pattern = fmt::format("-{}|{}", option.letter, pattern);
    std::string action = ":";
    if (const Words words = words_of(option); !words.empty())
      action = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(words, " "));
    else if (option.completes == Completes::files)
      action = "_tare_files \"$cur\"";
    out += fmt::format("        {}) {}; return ;;\n", pattern, action);
  }
  return out;
}

std::string bash_flags(const Verb& verb) {
  std::string out;
  for (const Option& option : options_of(verb)) {
    out += fmt::format("{}--{}", out.empty() ? "" : " ", option.name);
    if (option.letter != 0) out += fmt::format(" -{}", option.letter);
  }
  return out;
}

std::string bash() {
  // The names of tensors come from a file that may be hostile. Bash would run commands in them if they were words of
  // `compgen -W` or file names, which it expands; so they are compared one by one, and quoted. Very long lists and names
  // are cut, because bash reads them slowly.
  std::string out = fmt::format(R"(# bash completion for tare; made by `tare completions bash`
# One word for each line: an assignment would split names at spaces, and expand stars in them.
_tare_files() {{
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}}
_tare_tensors() {{
  local word name
  compopt +o filenames 2>/dev/null
  for word in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
    [[ -e $word ]] || continue
    while read -r name; do
      printf -v name %q "$name"
      [[ $name == "$1"* ]] && COMPREPLY+=("$name")
    done < <(tare ls -q --color never -- "$word" 2>/dev/null | sed -e 1d -e 's/  .*//' -e '/.\{{300\}}/d' | head -n 20000)
    return
  done
  compopt -o filenames 2>/dev/null
  _tare_files "$1"
}}
_tare() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}}
  local verbs='{}'
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "$verbs --help --version" -- "$cur"))
    # A file is a verb, too: `tare FILE`.
    [[ $cur ]] && mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -W '{}' -- "$cur"; compgen -f -- "$cur")
    return
  fi
  # bash splits --option=value at the equals sign.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  case $verb in
)",
                                fmt::join(verb_names(), " "), fmt::join(alias_words(), " "));
  for (const Verb* verb : shown_verbs()) {
    std::string operands = ":";
    if (takes_files(*verb)) operands = "_tare_files \"$cur\"";
    if (takes_tensors(*verb)) operands = "_tare_tensors \"$cur\"";
    if (takes_verbs(*verb)) operands = "COMPREPLY=($(compgen -W \"$verbs\" -- \"$cur\"))";
    out += fmt::format(
        "    {})\n      case $prev in\n{}      esac\n      if [[ $cur == -* ]]; then\n"
        "        COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n      else\n        {}\n      fi\n      ;;\n",
        names_of(*verb, '|'), bash_option_values(*verb), bash_flags(*verb), operands);
  }
  return out + "  esac\n}\ncomplete -o filenames -F _tare tare\n";
}

// ---- zsh

// Escapes text for a spec of _arguments, in which brackets and colons have a meaning.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(Completes completes) {
  switch (completes) {
    case Completes::files: return "_files";
    case Completes::directories: return "_files -/";
    case Completes::verbs: return "($verb_names)";
    case Completes::tensors: return "_tare_tensors";
    case Completes::methods:
    case Completes::nothing: break;
  }
  return " ";
}

std::string zsh_option(const Verb& verb, const Option& option) {
  const std::string star = option.repeatable ? "*" : "";
  std::string rest = fmt::format("[{}]", zsh_text(help_of(verb, option)));
  if (!option.value.empty()) {
    const Words words = words_of(option);
    const std::string action =
        words.empty() ? zsh_action(option.completes) : fmt::format("({})", fmt::join(words, " "));
    rest += fmt::format("{}:{}:{}", option.optional_value ? ":" : "", zsh_text(option.value), action);
  }
  const std::string equals = option.value.empty() ? "" : option.optional_value ? "=-" : "=";
  std::string out =
      fmt::format(" \\\n        {}", in_quotes(fmt::format("{}--{}{}{}", star, option.name, equals, rest)));
  if (option.letter != 0)
    out += fmt::format(" \\\n        {}", in_quotes(fmt::format("{}-{}{}", star, option.letter, rest)));
  return out;
}

std::string zsh() {
  std::string out =
      "#compdef tare\n# made by `tare completions zsh`\n"
      "_tare_tensors() {\n  local -a names\n"
      "  names=(${(f)\"$(tare ls -q --color never -- ${(Q)line[1]} 2>/dev/null | sed -e 1d -e 's/  .*//')\"})\n"
      "  compadd -a names\n}\n"
      "_tare() {\n  local state line\n  local -a verbs verb_names\n  "
      "verbs=(\n";
  for (const Verb* verb : shown_verbs())
    out += fmt::format("    {}\n", in_quotes(fmt::format("{}:{}", verb->name, zsh_text(verb->summary))));
  out += fmt::format(
      "  )\n  verb_names=({})\n  _arguments -C '(- *)'{{-h,--help}}'[show help]' '(- *)--version[print the version]' "
      "\\\n"
      "    '1:verb:->verb' '*::operand:->operands'\n  case $state in\n    verb) _alternative 'verbs:verb:{{_describe "
      "verb verbs}}' 'files:file:_files' ;;\n"
      "    operands)\n      case $words[1] in\n",
      fmt::join(verb_names(), " "));
  for (const Verb* verb : shown_verbs()) {
    out += fmt::format("      {}) _arguments -s", names_of(*verb, '|'));
    for (const Option& option : options_of(*verb)) out += zsh_option(*verb, option);
    std::size_t position = 1;
    for (const Operand& operand : verb->operands) {
      const std::string place = operand.many ? "*" : fmt::format("{}{}", position++, operand.required ? "" : ":");
      out += fmt::format(" \\\n        {}",
                         in_quotes(fmt::format("{}:{}:{}", place, operand.name, zsh_action(operand.completes))));
    }
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n_tare \"$@\"\n";
}

// ---- fish

std::string fish_option(const Verb& verb, const Option& option) {
  std::string out =
      fmt::format("complete -c tare -n '__fish_seen_subcommand_from {}' -l {}", names_of(verb, ' '), option.name);
  if (option.letter != 0) out += fmt::format(" -s {}", option.letter);
  if (!option.value.empty() && !option.optional_value) {
    if (const Words words = words_of(option); !words.empty())
      out += fmt::format(" -x -a {}", in_quotes(fmt::format("{}", fmt::join(words, " "))));
    else
      out += option.completes == Completes::nothing ? " -x" : " -r -F";
  }
  return out + fmt::format(" -d {}\n", in_quotes(help_of(verb, option)));
}

std::string fish() {
  std::string out =
      "# fish completion for tare; made by `tare completions fish`\ncomplete -c tare -f\n"
      "function __tare_tensors\n  for word in (commandline -opc)[3..-1]\n    test -e $word; or continue\n"
      "    tare ls -q --color never -- $word 2>/dev/null | sed -e 1d -e 's/  .*//'\n    return\n  end\nend\n";
  out += "complete -c tare -n __fish_use_subcommand -l version -d 'print the version'\n";
  out += "complete -c tare -n __fish_use_subcommand -F\n";  // a file is a verb, too: `tare FILE`
  for (const Verb* verb : shown_verbs()) {
    out += fmt::format("complete -c tare -n __fish_use_subcommand -a {} -d {}\n", verb->name, in_quotes(verb->summary));
    const std::string names = names_of(*verb, ' ');
    if (takes_files(*verb)) out += fmt::format("complete -c tare -n '__fish_seen_subcommand_from {}' -F\n", names);
    if (takes_tensors(*verb))
      out += fmt::format("complete -c tare -n '__fish_seen_subcommand_from {}' -a '(__tare_tensors)'\n", names);
    if (takes_verbs(*verb))
      out += fmt::format("complete -c tare -n '__fish_seen_subcommand_from {}' -a '{}'\n", names,
                         fmt::join(verb_names(), " "));
    for (const Option& option : options_of(*verb)) out += fish_option(*verb, option);
  }
  return out;
}

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr Shell kShells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

int run(const Arguments& arguments, Session& session) {
  std::vector<std::string_view> names;
  for (const Shell& shell : kShells) {
    names.push_back(shell.name);
    if (shell.name != arguments.operand(0)) continue;
    session.print(shell.script());
    return kDone;
  }
  throw UsageError(fmt::format("SHELL is one of {}, not '{}'", fmt::join(names, ", "), arguments.operand(0)));
}

constexpr Operand kOperands[] = {{.name = "SHELL"}};
constexpr Example kExamples[] = {
    {"tare completions bash > ~/.local/share/bash-completion/completions/tare", "install them"}};

}  // namespace

constexpr Verb kVerb{.name = "completions",
                     .summary = "print a completion script",
                     .description = "Prints the completion script for SHELL: bash, zsh or fish.",
                     .operands = kOperands,
                     .options = {},
                     .examples = kExamples,
                     .run = run,
                     .hidden = true};

}  // namespace tare::cli::completions_verb
