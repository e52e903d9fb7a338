// finish: writes the output of a plan, from the parts that its tasks made.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/change_report.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/plan_file.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"

namespace tare::cli::finish_verb {
namespace {

void require_done(const PlanFile& plan, const std::string& file) {
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < plan.parts.size(); ++i)
    if (!is_part(plan.part_path(i), plan.id())) missing.push_back(std::to_string(i));
  if (missing.empty()) return;
  const std::size_t shown = std::min<std::size_t>(missing.size(), 8);
  throw Error(ErrorKind::not_found, "cli.plan.undone",
              fmt::format("{} of {} not done: {}{}", missing.size(), counted(plan.parts.size(), "task"),
                          fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                          shown < missing.size() ? ", ..." : ""))
      .in(file);
}

int run(const Arguments& arguments, Session& session) {
  const PlanFile plan = enter_plan_file(arguments.operand(0), owners_of(arguments));
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) paths.push_back(plan.part_path(i));
  const Arguments conversion = parse(convert_verb::kVerb, plan.words);
  ConvertOptions options = convert_verb::convert_options(conversion);
  Conversion done;
  try {
    ProgressBar bar(session, "finishing", std::nullopt);
    options.work.progress = bar.progress();
    done = convert_from_parts(conversion.operand(0), conversion.operand(1), options, paths, plan.id(),
                              owners_of(arguments));
  } catch (const Error&) {
    require_done(plan, arguments.operand(0));  // only now: it would open all parts once more
    throw;
  }
  const std::vector<std::string> left = remove_parts(plan);
  if (arguments.has("json") || conversion.has("json")) {
    session.line(conversion_json(done, conversion, &convert_verb::kVerb));
    return kDone;
  }
  if (!conversion.has("quiet"))
    report_changes(headline_of(done, conversion), weigh(done.changes), verbose(conversion), session);
  if (!left.empty())
    session.remark(
        fmt::format("parts that could not be removed: {}", printable(fmt::format("{}", fmt::join(left, ", ")))));
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "PLAN", .completes = Completes::files}};
constexpr Option kOptions[] = {kAnyOwner, kJson};
constexpr Example kExamples[] = {{"tare finish job.json", "the output of job.json, when all its tasks are done"}};

}  // namespace

constexpr Verb kVerb{
    .name = "finish",
    .summary = "make the output of a plan from its parts",
    .description =
        "Makes the output of the plan that `tare plan` wrote from the parts that its tasks made, and "
        "removes them. If a task has not been done, it says which, and nothing is written. The plan and its parts "
        "must belong to you or to root.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::finish_verb
