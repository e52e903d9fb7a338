// diff: compares two files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/checked.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/statistics_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "convert/directory_form.hpp"
#include "convert/no_match.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"
#include "tare/inspect.hpp"

namespace tare::cli::diff_verb {
namespace {

// Returns for example "shape 2x3 -> 3x2".
std::string change(std::string_view what, const std::string& a, const std::string& b) {
  return fmt::format("{} {} -> {}", what, a, b);
}

// Returns the differences other than values. A layout that repeats the type is not shown.
std::string what_differs(const TensorDifference& tensor) {
  if (tensor.only_in) return fmt::format("only in {}", *tensor.only_in == Side::a ? "A" : "B");
  std::vector<std::string> parts;
  if (!tensor.shape_a.empty()) parts.push_back(change("shape", tensor.shape_a, tensor.shape_b));
  if (!tensor.type_a.empty()) parts.push_back(fmt::format("{} -> {}", tensor.type_a, tensor.type_b));
  if (!tensor.layout_a.empty() && tensor.type_a.empty())
    parts.push_back(change("layout", tensor.layout_a, tensor.layout_b));
  if (!tensor.component.empty() && tensor.first_difference)
    parts.push_back(fmt::format("byte {} of {}", count_text(*tensor.first_difference), printable(tensor.component)));
  else if (tensor.values_differ && !tensor.compared)
    parts.emplace_back("bytes");
  if (parts.empty() && !tensor.values_differ)
    parts.emplace_back("bits: 0 and -0, two NaN, or two codes for one number");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string changed_text(const TensorDifference& tensor) {
  if (tensor.count == 0) return {};
  if (tensor.different < 1000) return fmt::format("{} of {}", tensor.different, count_text(tensor.count));
  return fmt::format("{:.1f}%", 100 * static_cast<double>(tensor.different) / static_cast<double>(tensor.count));
}

// Whether the relative error of `x` is larger; NaN is larger than all others.
bool is_worse(const TensorDifference& x, const TensorDifference& y) {
  if (std::isnan(x.relative_rms) || std::isnan(y.relative_rms)) return !std::isnan(y.relative_rms);
  return x.relative_rms > y.relative_rms;
}

// Tensors that cannot be compared come first, then those with the largest relative error; at most `most`.
std::vector<const TensorDifference*> worst_first(const Difference& difference, std::size_t most) {
  std::vector<const TensorDifference*> tensors;
  for (const TensorDifference& tensor : difference.tensors) tensors.push_back(&tensor);
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorDifference* x, const TensorDifference* y) {
    if (x->compared != y->compared) return !x->compared;
    return is_worse(*x, *y);
  });
  tensors.resize(std::min(tensors.size(), most));
  return tensors;
}

// How much space one or more tensors take.
struct Space {
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> elements = 0;  // nothing: more than 64 bits can count

  void add(const Tensor& tensor) {
    const auto more = tensor.shape.elements();
    bytes += tensor.bytes();
    elements = elements && more ? checked_add(*elements, *more) : std::nullopt;
  }
  // Nothing without elements.
  std::optional<double> bits() const {
    if (elements.value_or(0) == 0) return std::nullopt;
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(*elements);
  }
};

// The same in A and in B.
struct Spaces {
  Space a, b;
};

Spaces spaces_of(const Model& a, const Model& b) {
  Spaces spaces;
  for (const Tensor& tensor : a.tensors) spaces.a.add(tensor);
  for (const Tensor& tensor : b.tensors) spaces.b.add(tensor);
  return spaces;
}

// What was compared, and how.
struct Extent {
  bool whole = false;                   // all tensors and the metadata
  bool exact = false;                   // bytes
  bool renamed = false;                 // under the names of Hugging Face
  std::optional<std::size_t> top = {};  // how many tensors are listed, the worst; nothing: all
  Spaces all = {};
  std::map<std::string_view, Spaces> tensors = {};  // by the names in the models, which must stay

  void measure(const Model& a, const Model& b) {
    all = spaces_of(a, b);
    for (const Tensor& tensor : a.tensors) tensors[tensor.name].a.add(tensor);
    for (const Tensor& tensor : b.tensors) tensors[tensor.name].b.add(tensor);
  }
};

// Returns the bits per weight in B; nothing if they are those in A, or a tensor is in one of the files only.
std::string new_bits(const Spaces& spaces) {
  const auto a = spaces.a.bits(), b = spaces.b.bits();
  return a && b && *a != *b ? fmt::format("{:.4g}", *b) : std::string();
}

// Returns for example "; 16.00 -> 4.82 bits per weight, 27.5 MiB -> 8.3 MiB"; nothing for files of the same size,
// and if one has none of the tensors.
std::string space_change(const Spaces& all) {
  if (all.a.bytes == all.b.bytes || all.a.bytes == 0 || all.b.bytes == 0) return {};
  const auto a = all.a.bits(), b = all.b.bits();
  return fmt::format("; {}{} -> {}", a && b ? fmt::format("{:.2f} -> {:.2f} bits per weight, ", *a, *b) : "",
                     size_text(all.a.bytes), size_text(all.b.bytes));
}

// Answers the question most people have: is it the same model?
std::string verdict(const Difference& difference, const Extent& extent) {
  std::uint64_t in_a = 0, in_b = 0, shapes = 0, values = 0, stored = 0, unknown = 0;
  const TensorDifference* worst = nullptr;
  for (const TensorDifference& tensor : difference.tensors) {
    if (tensor.only_in)
      ++(*tensor.only_in == Side::a ? in_a : in_b);
    else if (!tensor.shape_a.empty())
      ++shapes;
    else if (tensor.values_differ)
      ++values;
    else
      ++(tensor.compared ? stored : unknown);
    if (tensor.compared && tensor.values_differ && (worst == nullptr || is_worse(tensor, *worst))) worst = &tensor;
  }
  const std::uint64_t all = difference.compared + in_a + in_b;
  const std::string_view what = extent.exact ? "bytes" : "values";
  if (difference.same() && extent.whole && !extent.exact)
    return fmt::format("the same model: {} and the metadata compared", counted(all, "tensor"));
  if (difference.same())
    return fmt::format("the same{}: {} compared", extent.exact ? " bytes" : "", counted(all, "tensor"));

  std::vector<std::string> parts;
  if (in_a > 0) parts.push_back(fmt::format("{} only in A", count_text(in_a)));
  if (in_b > 0) parts.push_back(fmt::format("{} only in B", count_text(in_b)));
  if (shapes > 0) parts.push_back(fmt::format("{} of another shape", count_text(shapes)));
  if (values > 0)
    parts.push_back(fmt::format(
        "{} with other {}{}", count_text(values), what,
        worst == nullptr ? "" : fmt::format(", relative error up to {}", number_text(worst->relative_rms))));
  if (unknown > 0) parts.push_back(fmt::format("{} of another type or layout", count_text(unknown)));
  const std::uint64_t differ = in_a + in_b + shapes + values + unknown;
  std::string text = differ == 0
                         ? fmt::format("the same weights: {} compared", counted(all, "tensor"))
                         : fmt::format("not the same: {} of {} {} ({})", count_text(differ), counted(all, "tensor"),
                                       differ == 1 ? "differs" : "differ", fmt::join(parts, ", "));
  if (stored > 0)
    text +=
        fmt::format("{}{} stored in another way with the same values", differ == 0 ? ", " : "; ", count_text(stored));
  if (!difference.metadata.empty())
    text += difference.metadata.size() == 1
                ? "; one entry of metadata differs"
                : fmt::format("; {} entries of metadata differ", count_text(difference.metadata.size()));
  return text + space_change(extent.all);
}

void print_text(const Difference& difference, const Extent& extent, Session& session) {
  constexpr std::size_t kLongName = 60;  // usual names stay whole even in 80 columns
  const bool long_names = std::ranges::any_of(difference.tensors, [](const TensorDifference& tensor) {
    return display_width(printable(escape_name(tensor.name))) > kLongName;
  });
  Table table({{"TENSOR", Align::left, long_names},
               {"REL RMS", Align::right},
               {"COSINE", Align::right},
               {.title = "BITS", .align = Align::right, .spare = 1},
               {"WHAT DIFFERS", Align::left, true},
               {.title = "VALUES", .align = Align::right, .spare = 2},
               {.title = "MAX ABS", .align = Align::right, .spare = 3}});
  for (const TensorDifference* tensor : worst_first(difference, extent.top.value_or(SIZE_MAX))) {
    const bool numbers = tensor->compared && tensor->values_differ;
    table.add({printable(escape_name(tensor->name)), numbers ? number_text(tensor->relative_rms) : "",
               numbers && !std::isnan(tensor->cosine) ? fmt::format("{:.6f}", tensor->cosine) : "",
               new_bits(extent.tensors.at(tensor->name)), Cell(what_differs(*tensor), Style::yellow),
               numbers ? changed_text(*tensor) : "", numbers ? number_text(tensor->max_abs) : ""});
  }
  table.print(session);
  for (const MetadataDifference& entry : difference.metadata) session.line("metadata: " + printable(to_text(entry)));
  if (!session.quiet()) session.line(verdict(difference, extent));
}

// Writes an entry of metadata that differs as data; the names are those of Python's `Difference.metadata`.
void write_entry(JsonWriter& json, const MetadataDifference& entry) {
  json.open('{').key("part").text(name_of(entry.part)).key("key").text(one_line(entry.key)).key("tensor");
  entry.tensor.empty() ? json.null() : json.text(one_line(entry.tensor));
  json.key("a").raw(entry.a ? to_json(*entry.a) : "null").key("b").raw(entry.b ? to_json(*entry.b) : "null");
  json.key("different").number(entry.different).key("first");
  entry.first ? json.number(*entry.first) : json.null();
  json.close('}');
}

void write_bits(JsonWriter& json, const Spaces& spaces) {
  json.key("bits_per_weight").open('[');
  for (const Space& space : {spaces.a, spaces.b}) {
    const auto bits = space.bits();
    bits ? json.real(*bits) : json.null();
  }
  json.close(']');
}

void print_json(const Difference& difference, const Extent& extent, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("same").boolean(difference.same()).key("compared").number(difference.compared);
  json.key("renamed").boolean(extent.renamed).key("exact").boolean(extent.exact);
  json.key("tensor_bytes").open('[').number(extent.all.a.bytes).number(extent.all.b.bytes).close(']');
  write_bits(json, extent.all);
  json.key("tensors").open('[');
  const auto pair = [&json](std::string_view name, const std::string& a, const std::string& b) {
    if (!a.empty() || !b.empty()) json.key(name).open('[').text(a).text(b).close(']');
  };
  std::vector<const TensorDifference*> listed;
  for (const TensorDifference& tensor : difference.tensors) listed.push_back(&tensor);
  if (extent.top) listed = worst_first(difference, *extent.top);
  for (const TensorDifference* const one : listed) {
    const TensorDifference& tensor = *one;
    json.open('{').key("name").text(one_line(tensor.name));
    if (tensor.only_in) json.key("only_in").text(*tensor.only_in == Side::a ? "a" : "b");
    pair("shape", tensor.shape_a, tensor.shape_b);
    pair("dtype", tensor.type_a, tensor.type_b);
    pair("layout", tensor.layout_a, tensor.layout_b);
    write_bits(json, extent.tensors.at(tensor.name));
    json.key("values_differ").boolean(tensor.values_differ);
    if (tensor.compared) {
      json.key("different").number(tensor.different).key("count").number(tensor.count);
      json.key("max_abs").real(tensor.max_abs).key("rms").real(tensor.rms);
      json.key("relative_rms").real(tensor.relative_rms).key("cosine").real(tensor.cosine);
      if (tensor.first_difference) json.key("first_difference").number(*tensor.first_difference);
    } else if (!tensor.component.empty() && tensor.first_difference) {
      json.key("component").text(one_line(tensor.component)).key("first_byte").number(*tensor.first_difference);
    }
    json.close('}');
  }
  json.close(']').key("metadata").open('[');
  for (const MetadataDifference& entry : difference.metadata) json.text(to_text(entry));
  json.close(']').key("entries").open('[');
  for (const MetadataDifference& entry : difference.metadata) write_entry(json, entry);
  json.close(']').close('}');
  session.line(text);
}

void remark_on_names(const Extent& extent, Session& session) {
  if (extent.renamed)
    session.remark("A and B name their tensors differently: compared under the names and row order of Hugging Face");
}

// Compares one tensor: shows the error of B as a distribution.
int run_on_tensor(const Arguments& arguments, Session& session, Model a, Model b, Extent extent) {
  const std::string& name = arguments.operand(2);
  const Tensor x = find_tensor(a, arguments.operand(0), name), y = find_tensor(b, arguments.operand(1), name);
  a.tensors = {x}, b.tensors = {y};
  a.metadata = b.metadata = {};
  a.config = b.config = {};
  a.vocabulary = b.vocabulary = {};
  a.attachments.clear(), b.attachments.clear();
  extent.measure(a, b);
  const Difference found = diff(a, b, {.threads = arguments.threads()});
  const auto bins = static_cast<std::size_t>(arguments.number("bins", 16, 1, 1000));
  const Statistics errors = statistics(difference(x, y), bins, 8, {.threads = arguments.threads()});
  remark_on_names(extent, session);
  const TensorDifference numbers = found.tensors.empty() ? TensorDifference() : found.tensors.front();
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("same").boolean(found.same()).key("name").text(one_line(x.name));
    json.key("renamed").boolean(extent.renamed).key("dtype");
    json.open('[').text(dtype_name(x)).text(dtype_name(y)).close(']');
    write_bits(json, extent.all);
    json.key("rms").real(numbers.rms).key("relative_rms").real(numbers.relative_rms);
    json.key("max_abs").real(numbers.max_abs).key("cosine").real(numbers.cosine).key("error");
    write_statistics(json, errors);
    json.close('}');
    session.line(text);
    return found.same() ? kDone : kFailed;
  }
  session.line(session.paint(Style::bold, printable(escape_name(x.name))));
  print_text(found, extent, session);
  if (found.same()) return kDone;
  session.line();
  session.line(
      fmt::format("B - A: rms {}, {} of the rms of A", number_text(numbers.rms, 6), number_text(numbers.relative_rms)));
  print_statistics(errors, session);
  return kFailed;
}

// Throws for a pattern that selects nothing, because then any two files would be equal.
void expect_matches(const Arguments& arguments, const Model& a, const Model& b) {
  for (const std::string_view option : {"match", "skip"})
    for (const std::string& glob : arguments.all(option)) {
      const auto hit = [&](const Tensor& tensor) { return glob_match(glob, tensor.name); };
      const auto any = [&](const Model& model) {
        return std::ranges::any_of(model.tensors, hit) || std::ranges::any_of(model.broken, hit, &BrokenTensor::tensor);
      };
      if (!any(a) && !any(b)) throw Error(ErrorKind::usage, "convert.match", no_match(glob, a));
    }
}

int run(const Arguments& arguments, Session& session) {
  const ReadOptions read = read_options(arguments);
  Extent extent{.exact = arguments.has("exact")};
  if (extent.exact && arguments.size() == 3) throw UsageError("--exact compares whole files; omit TENSOR");
  if (arguments.has("top") && arguments.size() == 3)
    throw UsageError("--top lists the worst of all tensors; omit TENSOR");
  if (arguments.has("bins") && arguments.size() < 3)
    throw UsageError("--bins is for the histogram of one tensor; name it after B");
  if (arguments.has("top")) extent.top = static_cast<std::size_t>(arguments.number("top", 0, 1, 1'000'000));
  Model a = open(arguments.operand(0), read), b = open(arguments.operand(1), read);
  const Spaces stored = spaces_of(a, b);  // other names may come with other types
  extent.renamed = !extent.exact && pair_names(a, b);
  extent.whole = arguments.size() < 3 && !arguments.has("tensors") && !arguments.has("match") && !arguments.has("skip");
  if (arguments.size() == 3) return run_on_tensor(arguments, session, std::move(a), std::move(b), extent);
  expect_matches(arguments, a, b);
  for (Model* model : {&a, &b}) {
    std::erase_if(model->tensors, [&](const Tensor& tensor) { return !selected(arguments, tensor.name); });
    std::erase_if(model->broken, [&](const BrokenTensor& found) { return !selected(arguments, found.tensor.name); });
  }
  if (arguments.has("tensors")) {
    a.metadata = b.metadata = {};
    a.config = b.config = {};
    a.vocabulary = b.vocabulary = {};
    a.attachments.clear(), b.attachments.clear();
  }
  extent.measure(a, b);
  if (!arguments.has("match") && !arguments.has("skip")) extent.all = stored;
  Difference difference;
  {
    ProgressBar bar(session, "comparing", extent.all.a.bytes + extent.all.b.bytes);
    difference = (extent.exact ? diff_bytes : diff)(a, b, {.threads = arguments.threads(), .progress = bar.progress()});
  }
  remark_on_names(extent, session);
  if (arguments.has("json"))
    print_json(difference, extent, session);
  else
    print_text(difference, extent, session);
  return difference.same() ? kDone : kFailed;
}

constexpr Operand kOperands[] = {{.name = "A", .completes = Completes::files},
                                 {.name = "B", .completes = Completes::files},
                                 {.name = "TENSOR", .required = false, .completes = Completes::tensors}};
constexpr Option kOptions[] = {
    {.name = "exact", .help = "compare bytes: decode nothing, pair no names, show the first byte that differs"},
    {.name = "tensors", .help = "compare tensors only, not metadata"},
    {.name = "top", .value = "N", .help = "list only the N tensors that differ most; the last line counts all"},
    {.name = "bins", .value = "N", .help = "bars of the histogram of errors; 16 by default"},
    kMatch,
    kSkip,
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare diff model.zt model-f16.zt", "what a cast to f16 cost, tensor by tensor"},
    {"tare diff model.zt model.mcf lm_head.weight", "the errors of one tensor, as a histogram"},
    {"tare diff model.zt small.gguf --top 10", "the ten tensors that quantization harmed most"},
    {"tare diff --exact a.zt b.zt", "are the stored bytes the same?"},
    {"tare diff -q --tensors a.zt b.npz && echo same", "exit code 0 when they hold the same tensors"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "diff",
    .summary = "compare two files",
    .description =
        "Compares the tensors (names, shapes, types, layouts, values) and the metadata of two files, which may "
        "be of different formats. Tensors with the largest error come first: the root mean square of the difference "
        "relative to A, the cosine of the two, the bits per weight of B if A has others, how many values differ and "
        "the "
        "largest absolute difference. Quantized and sparse tensors are compared decoded. If the files share fewer than "
        "half of their names (a file for llama.cpp and its directory), both get Hugging Face's names, if that matches "
        "more. --match, "
        "--skip and TENSOR mean those names. With a TENSOR, the differences of its elements are shown as a "
        "distribution. The last "
        "line says whether it is the same model, and what size was saved. Exit code 1 when anything differs, or a file "
        "could not be read.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::diff_verb
