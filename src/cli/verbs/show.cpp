// show: prints one tensor, with statistics and a histogram.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/packed_remarks.hpp"
#include "cli/statistics_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "convert/steps/packed_guard.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::show_verb {
namespace {

constexpr std::size_t kFirst = 8;

void print_facts(const Tensor& tensor, Session& session) {
  const auto elements = tensor.shape.elements();
  session.line(session.paint(Style::bold, printable(escape_name(tensor.name))));
  Table facts({{}, {}}, "  ");
  facts.add(
      {Cell("shape", Style::dim), fmt::format("{}  ({})", tensor.shape.text(),
                                              elements ? counted(*elements, "element") : "more than 2^64 elements")});
  facts.add({Cell("type", Style::dim), Cell(dtype_name(tensor), Style::cyan)});
  facts.add({Cell("layout", Style::dim), tensor.layout});
  facts.add({Cell("bytes", Style::dim),
             tensor.stored_bytes() == tensor.bytes()
                 ? count_text(tensor.bytes())
                 : fmt::format("{}, stored as {}", count_text(tensor.bytes()), count_text(tensor.stored_bytes()))});
  if (!tensor.attributes.empty())
    facts.add(
        {Cell("attributes", Style::dim), elide_end(printable(to_json(tensor.attributes)), 120, session.ellipsis())});
  facts.print(session);

  session.line();
  Table components({{"COMPONENT"},
                    {"TYPE"},
                    {"OFFSET", Align::right},
                    {"BYTES", Align::right},
                    {"STORED", Align::right},
                    {"ENCODING"},
                    {"DIGEST", Align::left, true}},
                   "  ");
  for (const Component& component : tensor.components) {
    const Blob& blob = component.blob;
    components.add({printable(component.role), Cell(printable(component.type_name()), Style::cyan),
                    blob.source() != nullptr ? count_text(blob.offset()) : "", count_text(blob.size()),
                    count_text(blob.stored_size()), name_of(blob.encoding()), printable(blob.digest().text())});
  }
  components.print(session);
}

void print_json(const Tensor& tensor, const std::string& file, const Statistics* stats, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("tensor");
  write_tensor(json, tensor, file);
  json.key("statistics");
  if (stats == nullptr) {
    json.null();
  } else {
    write_statistics(json, *stats);
  }
  json.close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const auto bins = static_cast<std::size_t>(arguments.number("bins", 16, 1, 1000));
  const Model model = open(file, read_options(arguments));
  const Tensor& tensor = find_tensor(model, file, arguments.operand(1));
  if (!arguments.has("json")) print_facts(tensor, session);
  if (const std::string why = why_codes(model, tensor); !why.empty())
    session.remark(fmt::format("{}: the numbers below are the codes", why));
  remark_guesses(model, tensor, session);

  std::optional<Statistics> stats;
  try {
    stats = statistics(tensor, bins, kFirst, {.threads = arguments.threads()});
  } catch (const Error& error) {
    // A layout or type without numbers is shown without statistics; damaged bytes are an error.
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::usage) throw;
    session.remark(fmt::format("no statistics: {}", error.sentence()));
  }
  model.check_sources();
  if (arguments.has("json"))
    print_json(tensor, file, stats ? &*stats : nullptr, session);
  else if (stats && stats->count > 0)
    print_statistics(*stats, session);
  return kDone;
}

constexpr Operand kOperands[] = {kFile, kTensor};
constexpr Option kOptions[] = {
    {.name = "bins", .value = "N", .help = "bars of the histogram; 16 by default"},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {{"tare show model.zt layers.0.attention.query.weight", "is anything odd in there?"}};

}  // namespace

constexpr Verb kVerb{
    .name = "show",
    .summary = "shape, statistics and histogram of a tensor",
    .description =
        "Shows one tensor: shape, type, where its components are; minimum, maximum, mean and standard "
        "deviation of the finite values; how many are zero, NaN or infinite; a histogram and the first "
        "values. Sparse and quantized tensors are decoded.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::show_verb
