// task: runs one task of a plan.
#include <fmt/format.h>

#include <charconv>

#include "base/json_stream.hpp"
#include "cli/options.hpp"
#include "cli/plan_file.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"

namespace tare::cli::task_verb {
namespace {

std::size_t number_of(const std::string& word, const PlanFile& plan) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number >= plan.parts.size())
    throw UsageError(fmt::format("the plan has the tasks 0 to {}; '{}' is not one", plan.parts.size() - 1, word));
  return number;
}

int run(const Arguments& arguments, Session& session) {
  const PlanFile plan = enter_plan_file(arguments.operand(0), owners_of(arguments));
  const std::size_t number = number_of(arguments.operand(1), plan);
  const Arguments conversion = parse(convert_verb::kVerb, plan.words);
  ConvertOptions options = convert_verb::convert_options(conversion);
  if (arguments.has("threads")) options.work.threads = arguments.threads();
  {
    ProgressBar bar(session, "converting", std::nullopt);
    options.work.progress = bar.progress();
    write_part(conversion.operand(0), conversion.operand(1), options, plan.parts[number], plan.part_path(number));
  }
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("plan").text(arguments.operand(0)).key("task").number(std::uint64_t{number});
    json.key("tensors")
        .number(std::uint64_t{plan.parts[number].count})
        .key("part")
        .text(plan.part_path(number))
        .close('}');
    session.line(text);
  }
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "PLAN", .completes = Completes::files}, {.name = "NUMBER"}};
constexpr Option kOptions[] = {kAnyOwner, kJson, kThreads};
constexpr Example kExamples[] = {
    {"seq 0 15 | xargs -P 4 -n 1 tare task job.json", "16 tasks, four at a time"},
    {"tare task job.json $SLURM_ARRAY_TASK_ID --threads 8", "as a job of Slurm"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "task",
    .summary = "do one task of a plan",
    .description =
        "Does task NUMBER of the plan that `tare plan` wrote: makes its tensors and writes them to a file "
        "next to PLAN, whole or not at all. Doing it again writes the same bytes. The plan must belong to you or to "
        "root.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::task_verb
