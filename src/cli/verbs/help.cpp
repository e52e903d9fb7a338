// help: prints the help of one verb, or the list of verbs.
#include "cli/help.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/text.hpp"

namespace tare::cli::help_verb {
namespace {

int run(const Arguments& arguments, Session& session) {
  if (arguments.size() == 0) {
    session.print((arguments.has("all") ? all_verbs : general_help)(help_look(session)));
    return kDone;
  }
  const Verb* const verb = find_verb(arguments.operand(0));
  if (verb == nullptr)
    throw UsageError(fmt::format("unknown verb '{}'{}", arguments.operand(0), verb_hint(arguments.operand(0))));
  session.print(verb_help(*verb, help_look(session)));
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "VERB", .required = false, .completes = Completes::verbs}};
constexpr Option kOptions[] = {{.name = "all", .help = "list every verb with its summary"}};
constexpr Example kExamples[] = {{"tare help convert", "every option of convert"}};

}  // namespace

constexpr Verb kVerb{.name = "help",
                     .summary = "explain a verb",
                     .description = "Prints everything about one verb, or the list of the most used verbs.",
                     .operands = kOperands,
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::help_verb
