// man: prints the manual page in mdoc, made from the tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/help.hpp"
#include "cli/model_text.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"

namespace tare::cli::man_verb {
namespace {

// The date of the last change to the text around the tables; the build date would make builds differ.
constexpr std::string_view kDate = "November 15, 2026";

constexpr std::size_t kColumns = 72;

// Escapes text for a line of its own, so that it contains no escapes or requests by accident.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// Quotes an argument of a macro, so that no word of it is taken for a macro.
std::string argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : roff(text)) {
    if (c == '"')
      out += "\\(dq";
    else
      out += c;
  }
  return out + "\"";
}

// Puts each sentence on a line of its own, as mdoc requires.
std::string sentences(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find(". ");
    const std::string_view sentence = text.substr(0, end == std::string_view::npos ? end : end + 1);
    for (const std::string& line : wrap(sentence, kColumns)) out += roff(line) + "\n";
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    if (!out.empty()) out += ".Pp\n";
    out += sentences(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
  }
  return out;
}

// Returns for example "Fl o , Fl -output Ar PATH".
std::string option_macros(const Option& option) {
  std::string out;
  if (option.letter != 0) out += fmt::format("Fl {} , ", option.letter);
  out += fmt::format("Fl \\-{}", roff(option.name));
  if (option.value.empty()) return out;
  return out + (option.optional_value ? fmt::format(" Ns Oo = Ns Ar {} Oc", option.value)
                                      : fmt::format(" Ar {}", option.value));
}

std::string operand_macros(const Operand& operand) {
  return fmt::format("{} {}{}", operand.required ? "Ar" : "Op Ar", operand.name, operand.many ? " ..." : "");
}

void append_options(std::string& out, const Verb& verb, std::span<const Option> options) {
  if (options.empty()) return;
  out += ".Bl -tag -width Ds\n";
  for (const Option& option : options) {
    out += fmt::format(".It {}\n{}", option_macros(option), sentences(sentence_case(help_of(verb, option)) + "."));
    if (option.words != nullptr) out += fmt::format("One of\n.Cm {} .\n", fmt::join(option.words(), " ,\n.Cm "));
  }
  out += ".El\n";
}

void append_verb(std::string& out, const Verb& verb) {
  out += fmt::format(".Ss {}\n.Nm\n.Cm {}\n", argument(fmt::format("tare {}", verb.name)), verb.name);
  if (!verb.options.empty()) out += ".Op Ar option ...\n";
  for (const Operand& operand : verb.operands) out += fmt::format(".{}\n", operand_macros(operand));
  out += ".Pp\n" + paragraphs(description_of(verb));
  append_options(out, verb, own_options_of(verb));
  for (const Example& example : verb.examples)
    out += fmt::format(".Pp\n{}{}\n.Dl {}\n", roff(sentence_case(example.meaning)),
                       example.meaning.ends_with('?') ? "" : ":", roff(example.command));
}

void append_formats(std::string& out) {
  const auto longest = std::ranges::max(formats(), {}, [](const Format& format) { return format.name.size(); });
  out += fmt::format(".Sh FORMATS\n.Bl -column \"{}\" \"read, write\" \"a longer name of a format\"\n", longest.name);
  for (const Format& format : formats())
    out += fmt::format(".It {} Ta {} Ta {}\n", format.name, is_writable(format) ? argument("read, write") : "read",
                       argument(fmt::format("{} ({})", format.title, fmt::join(format.suffixes, ", "))));
  out += ".El\n.Pp\n.Nm\n.Cm formats\nprints what each can hold.\n";
}

constexpr std::string_view kEnvironment = R"(.Sh ENVIRONMENT
.Bl -tag -width NO_COLOR
.It Ev NO_COLOR
If set and not empty, nothing is coloured unless
.Fl \-color Ar always
is given.
.It Ev COLUMNS
The width of the terminal, in place of what the terminal says.
Output that does not go to a terminal is never cut.
.It Ev LC_ALL , LC_CTYPE , LANG
Bars are drawn with Unicode characters in a UTF\-8 locale, in ASCII in others.
.El
.Sh EXIT STATUS
.Bl -tag -width Ds
.It 0
Done.
.It 1
The file is bad, the files differ, or it could not be done.
.It 2
The command line is wrong.
.It 141
The reader of standard output went away.
.El
.Pp
With several files,
.Nm
goes on after a bad one; the exit status shows that there was one.
.Sh DIAGNOSTICS
Errors are printed on standard error as
.Dl tare: FILE: sentence (rule, byte N)
The rule is a stable identifier of what was broken.
)";

int run(const Arguments& /*arguments*/, Session& session) {
  std::string out = fmt::format(".Dd {}\n.Dt TARE 1\n.Os\n.Sh NAME\n.Nm tare\n.Nd {}\n", kDate, kTagline);
  out +=
      ".Sh SYNOPSIS\n.Nm\n.Ar verb\n.Op Ar option ...\n.Op Ar operand ...\n.Nm\n.Fl \\-version\n"
      ".Sh DESCRIPTION\n"
      "A container of model weights lays out the same few things in its own way:\n"
      "tensors, metadata, a configuration, a vocabulary and attached files.\n"
      ".Nm\n"
      "opens any of the containers it knows, shows and checks what is inside,\n"
      "and converts it into any other.\n"
      "The format of a file is found by looking at its bytes.\n"
      ".Pp\n"
      "Data goes to standard output, messages to standard error.\n"
      "An existing file is replaced only with\n.Fl \\-force .\n"
      "These options are understood by every verb:\n";
  append_options(out, Verb(), universal_options());
  out += ".Sh VERBS\n";
  for (const Verb* verb : verbs())
    if (!verb->hidden) append_verb(out, *verb);
  append_formats(out);
  session.print(out);
  session.print(kEnvironment);
  return kDone;
}

constexpr Example kExamples[] = {{"tare man | man -l -", "read it"}};

}  // namespace

constexpr Verb kVerb{.name = "man",
                     .summary = "print the manual page",
                     .description = "Prints the manual page, made from the tables of verbs and formats, in mdoc.",
                     .operands = {},
                     .options = {},
                     .examples = kExamples,
                     .run = run,
                     .hidden = true};

}  // namespace tare::cli::man_verb
