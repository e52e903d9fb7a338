// append: adds tensors to an existing file, in place.
#include "tare/append.hpp"

#include <fmt/format.h>

#include <set>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/advice.hpp"
#include "cli/change_report.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "convert/adapt.hpp"
#include "tare/convert.hpp"

namespace tare::cli::append_verb {
namespace {

// Returns the tensors of all inputs as one model: they are added together or not at all.
Model gather(const Arguments& arguments) {
  Model extra;
  std::set<std::string> names;
  for (const std::string& input : arguments.operands().subspan(1)) {
    Model model = open(input, read_options(arguments));
    for (Tensor& tensor : model.tensors) {
      if (!selected(arguments, tensor.name)) continue;
      if (!names.insert(tensor.name).second)
        throw Error(ErrorKind::unsupported, "cli.append.duplicate", "the name appears twice")
            .in(input)
            .about(quote(tensor.name));
      extra.tensors.push_back(std::move(tensor));
    }
    extra.sources.insert(extra.sources.end(), model.sources.begin(), model.sources.end());
    for (BrokenTensor& broken : model.broken)
      if (selected(arguments, broken.tensor.name)) extra.broken.push_back(std::move(broken));
  }
  return extra;
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const ConvertOptions given = conversion_options(arguments);
  AdaptOptions adapt_options;
  adapt_options.set = given.adapt.set;
  WriteOptions options = given.write;

  const Format& target = detect(*open_file(file, arguments.access()));
  Adapted extra = adapt(gather(arguments), target, adapt_options, options.work);
  {
    ProgressBar bar(session, "appending", tensor_bytes(extra.model));
    options.work.progress = bar.progress();
    for (Change& change : tare::append(file, extra.model, options)) extra.changes.push_back(std::move(change));
  }
  if (arguments.has("json")) {
    Saved done;
    done.changes = std::move(extra.changes);
    std::string text;
    JsonWriter json(text);
    json.open('{').key("file").text(file).key("tensors").number(std::uint64_t{extra.model.tensors.size()});
    json.key("bytes").number(tensor_bytes(extra.model));
    write_changes(json, done, &kVerb);
    json.close('}');
    session.line(text);
    return kDone;
  }
  for (const Change& change : extra.changes) session.remark(text_of(change, &kVerb));
  session.remark(fmt::format("{}: {} added, {}", file, counted(extra.model.tensors.size(), "tensor"),
                             size_text(tensor_bytes(extra.model))));
  return kDone;
}

constexpr Operand kOperands[] = {kFile, {.name = "IN", .many = true, .completes = Completes::files}};
constexpr Example kExamples[] = {{"tare append model.zt adapter.npz", "the file grows by what is added"}};

}  // namespace

constexpr Verb kVerb{
    .name = "append",
    .summary = "add tensors to a file in place",
    .description =
        "Adds the tensors of every IN (any file Tare reads) to FILE without rewriting what it holds. FILE is of a "
        "container that can grow (tare formats). Names must be new. The metadata of the inputs is not taken over; "
        "--set sets keys. If it is interrupted, at whatever moment, FILE is readable as it was, or with all the "
        "new tensors.",
    .operands = kOperands,
    .options = kOptionsIn<&Option::append>,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::append_verb
