// report: writes what `view` shows as one page, to keep or to attach.
#include "view/report.hpp"

#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "view/svg.hpp"

namespace tare::cli::report_verb {
namespace {

void print_json(const Arguments& arguments, std::size_t bytes, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("output").text(arguments.get("output")).key("file_bytes").number(std::uint64_t{bytes});
  json.key("models").open('[');
  for (const std::string& path : arguments.operands()) json.text(path);
  json.close(']').close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  const bool json = arguments.has("json");
  if (json && (arguments.get("output").empty() || arguments.get("output") == "-"))
    throw UsageError("--json takes the place of the page on standard output; use -o PAGE.html");
  if (session.screen().terminal && arguments.get("output").empty() && !arguments.has("force"))
    throw UsageError("the page is HTML and is not written to a terminal; use -o PAGE.html, or --force");
  const std::vector<std::string> paths(arguments.operands().begin(), arguments.operands().end());
  view::Service service(paths, read_options(arguments));
  OutputTarget target(arguments, session, false);
  const std::string text = arguments.has("svg") ? view::picture(service, arguments.get("svg")) : view::report(service);
  target.sink().write(std::as_bytes(std::span(text)));
  target.commit();
  if (json) print_json(arguments, text.size(), session);
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "MODEL", .completes = Completes::files},
                                 {.name = "OTHER", .required = false, .completes = Completes::files}};
constexpr Option kOptions[] = {
    kOutput,
    {.name = "svg",
     .value = "NAME",
     .help = "a single picture: treemap, layers, map, errors, histogram:TENSOR or heat:TENSOR"},
    kForce,
    kJson,
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare report model.gguf -o model.html", "one page, to attach to a pull request"},
    {"tare report model.zt model.gguf -o what-it-cost.html", "the same with what differs"},
    {"tare report model.gguf --svg treemap -o treemap.svg", "a picture for a document"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "report",
    .summary = "what `view` shows, as one HTML page",
    .description =
        "Writes a page of at most 4 MiB that shows the model, or two, without a server: the same views as `tare "
        "view`, with the numbers and pictures of the largest tensors as far as there is room, the values of small "
        "tensors and the corners of others, and the findings of `verify`. It loads nothing from elsewhere. With --svg, "
        "a single picture instead.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::report_verb
