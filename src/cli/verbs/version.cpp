// version: the version of the command and its library.
#include "tare/version.hpp"

#include <fmt/format.h>

#include "base/json_stream.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"

namespace tare::cli::version_verb {
namespace {

int run(const Arguments& arguments, Session& session) {
  if (arguments.has("json")) {
    std::string text;
    JsonWriter(text).open('{').key("version").text(tare::version()).close('}');
    session.line(text);
    return kDone;
  }
  session.line(fmt::format("tare {}", tare::version()));
  return kDone;
}

constexpr Option kOptions[] = {kJson};
constexpr Example kExamples[] = {{"tare version", "prints the name and three numbers"}};

}  // namespace

constexpr Verb kVerb{.name = "version",
                     .summary = "print the version",
                     .description = "Prints the version of the command and of the library it was built with.",
                     .operands = {},
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::version_verb
