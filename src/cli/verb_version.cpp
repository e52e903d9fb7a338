// version: the version of the command and its library.
#include <fmt/format.h>

#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "tare/version.hpp"

namespace tare::cli {
namespace {

int run(const Arguments& /*arguments*/, Session& session) {
  session.line(fmt::format("tare {}", tare::version()));
  return kDone;
}

constexpr Example kExamples[] = {{"tare version", "prints, for example, \"tare 0.1.0\""}};

}  // namespace

constexpr Verb kVersion{.name = "version",
                        .summary = "print the version",
                        .description = "Prints the version of the command and of the library it was built with.",
                        .operands = {},
                        .options = {},
                        .examples = kExamples,
                        .run = run};

}  // namespace tare::cli
