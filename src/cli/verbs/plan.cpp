// plan: divides a conversion into tasks for a cluster.
#include "tare/plan.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/plan_file.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"

namespace tare::cli::plan_verb {
namespace {

int run(const Arguments& arguments, Session& session) {
  const std::size_t tasks = static_cast<std::size_t>(arguments.number("tasks", 8, 1, 1'000'000));
  PlanFile plan;
  plan.path = arguments.operand(0);
  plan.words.assign(arguments.operands().begin() + 1, arguments.operands().end());
  const Arguments conversion = parse(convert_verb::kVerb, plan.words);
  if (conversion.operand(1) == "-") throw UsageError("what is made in parts cannot go to standard output");
  const ConvertOptions options = convert_verb::convert_options(conversion);
  plan.parts = divide(planned_tensors(conversion.operand(0), conversion.operand(1), options), tasks);
  require_other_name(conversion.operand(1), plan);
  write_plan_file(plan, arguments.has("force"));
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("plan").text(arguments.operand(0)).key("tasks").number(std::uint64_t{plan.parts.size()});
    json.key("input").text(conversion.operand(0)).key("output").text(conversion.operand(1)).close('}');
    session.line(text);
    return kDone;
  }
  session.remark(fmt::format("{}: {}", arguments.operand(0), counted(plan.parts.size(), "task")));
  session.line(fmt::format("{}", plan.parts.size()));
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "PLAN", .completes = Completes::files},
                                 {.name = "WORD", .many = true, .completes = Completes::files}};
constexpr Option kOptions[] = {
    {.name = "tasks", .value = "N", .help = "divide the work into about N tasks; 8 by default"},
    kForce,
    kJson,
};
constexpr Example kExamples[] = {
    {"tare plan job.json --tasks 16 -- Llama-3.1-405B/ small.gguf --quant q4_k", "what to do, as a file; prints 16"},
    {"tare task job.json 3", "one task, on any machine that sees the files"},
    {"tare finish job.json", "the output, when all tasks are done"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "plan",
    .summary = "divide a conversion into tasks for a cluster",
    .description =
        "Writes the file PLAN, which divides `tare convert IN OUT [OPTION...]` into tasks, and prints how many there "
        "are. "
        "Options of the conversion follow after --.\n\n"
        "`tare task PLAN NUMBER` does one of them, numbered from 0, on any machine that sees the same files under the "
        "same "
        "names, in any order. It writes a part next to PLAN, whole or not at all; a task that was killed, or is run "
        "twice, does no harm. `tare finish PLAN` makes OUT of the parts. OUT is what `tare convert` writes, byte for "
        "byte.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::plan_verb
