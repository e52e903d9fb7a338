// show: one tensor, with numbers and a picture.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "tare/codec.hpp"
#include "tare/format.hpp"
#include "tare/inspect.hpp"

namespace tare::cli {
namespace {

constexpr std::size_t kFirst = 8;

void print_facts(const Tensor& tensor, Session& session) {
  const auto elements = tensor.shape.elements();
  session.line(session.paint(Style::bold, printable(escape_name(tensor.name))));
  Table facts({{}, {}}, "  ");
  facts.add({Cell("shape", Style::dim),
             fmt::format("{}  ({})", tensor.shape.text(), counted(elements.value_or(0), "element"))});
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

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return count_text(part);
  return fmt::format("{} ({:.2f}%)", count_text(part), 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_histogram(const Statistics& stats, Session& session) {
  const std::uint64_t top = *std::max_element(stats.histogram.begin(), stats.histogram.end());
  if (top == 0) return;
  std::vector<std::string> edges;
  std::size_t edge_columns = 0;
  const auto bins = static_cast<double>(stats.histogram.size());
  for (std::size_t i = 0; i < stats.histogram.size(); ++i) {
    // Weighted, not stepped: max - min may overflow.
    const double at = static_cast<double>(i) / bins;
    edges.push_back(fmt::format("{:.3g}", stats.min * (1 - at) + stats.max * at));
    edge_columns = std::max(edge_columns, edges.back().size());
  }
  const std::size_t count_columns = count_text(top).size();
  const std::size_t width = session.screen().terminal ? session.screen().columns : 72;
  const std::size_t used = edge_columns + count_columns + 6;
  const std::size_t room = std::min<std::size_t>(60, width > used + 8 ? width - used : 8);
  session.line();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const double share = static_cast<double>(stats.histogram[i]) / static_cast<double>(top);
    const std::string bar = share_bar(share, room, session.unicode());
    std::string line = fmt::format("  {:>{}}  {:>{}}  {}", edges[i], edge_columns, count_text(stats.histogram[i]),
                                   count_columns, session.paint(Style::green, bar));
    line.erase(line.find_last_not_of(' ') + 1);
    session.line(line);
  }
}

void print_statistics(const Statistics& stats, Session& session) {
  session.line();
  Table numbers({{}, {}}, "  ");
  const auto add = [&](std::string_view name, std::string value) {
    numbers.add({Cell(name, Style::dim), std::move(value)});
  };
  add("min", number_text(stats.min));
  add("max", number_text(stats.max));
  add("mean", number_text(stats.mean));
  add("std", number_text(stats.std));
  add("zeros", share_text(stats.zeros, stats.count));
  add("nan", share_text(stats.nan, stats.count));
  add("inf", share_text(stats.inf, stats.count));
  std::vector<std::string> first;
  for (const double value : stats.first) first.push_back(number_text(value));
  add("first", fmt::format("{}", fmt::join(first, " ")));
  numbers.print(session);
  if (!stats.histogram.empty()) print_histogram(stats, session);
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
    json.open('{').key("count").number(stats->count).key("nan").number(stats->nan).key("inf").number(stats->inf);
    json.key("zeros").number(stats->zeros).key("min").real(stats->min).key("max").real(stats->max);
    json.key("mean").real(stats->mean).key("std").real(stats->std).key("histogram").open('[');
    for (const std::uint64_t count : stats->histogram) json.number(count);
    json.close(']').key("first").open('[');
    for (const double value : stats->first) json.real(value);
    json.close(']').close('}');
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

  std::optional<Statistics> stats;
  try {
    stats = statistics(tensor, bins, kFirst, arguments.threads());
  } catch (const Error& error) {
    // A layout or type without numbers is shown without them; bad bytes are an error.
    if (error.kind() != ErrorKind::unsupported && error.kind() != ErrorKind::usage) throw;
    session.remark(fmt::format("no statistics: {}", error.sentence()));
  }
  if (arguments.has("json"))
    print_json(tensor, file, stats ? &*stats : nullptr, session);
  else if (stats && stats->count > 0)
    print_statistics(*stats, session);
  return kDone;
}

constexpr Operand kOperands[] = {kFile, kTensor};
constexpr Option kOptions[] = {
    {.name = "bins", .value = "N", .help = "bars of the histogram; 16 unless given"},
    kJson,
    kNoMmap,
    kThreads,
};
constexpr Example kExamples[] = {{"tare show model.zt layers.0.attention.query.weight", "is anything odd in there?"}};

}  // namespace

constexpr Verb kShow{
    .name = "show",
    .summary = "shape, statistics and histogram of a tensor",
    .description =
        "Shows one tensor: shape, type, where its components lie; minimum, maximum, mean and standard "
        "deviation of the finite values; how many are zero, NaN or infinite; a histogram and the first "
        "values. Sparse and quantized tensors are decoded.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli
