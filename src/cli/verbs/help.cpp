// help: prints the help of one verb, or the list of verbs.
#include "cli/help.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/text.hpp"

namespace tare::cli::help_verb {
namespace {

int run(const Arguments& arguments, Session& session) {
  if (arguments.size() == 0) {
    session.print(general_help(help_look(session)));
    return kDone;
  }
  const Verb* const verb = find_verb(arguments.operand(0));
  if (verb == nullptr) {
    const auto near = nearest(arguments.operand(0), verb_names(), 1);
    throw UsageError(fmt::format("unknown verb '{}'{}", arguments.operand(0),
                                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front())));
  }
  session.print(verb_help(*verb, help_look(session)));
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "VERB", .required = false, .completes = Completes::verbs}};
constexpr Example kExamples[] = {{"tare help convert", "every option of convert"}};

}  // namespace

constexpr Verb kVerb{.name = "help",
                     .summary = "explain a verb",
                     .description = "Prints everything about one verb, or the list of verbs.",
                     .operands = kOperands,
                     .options = {},
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::help_verb
