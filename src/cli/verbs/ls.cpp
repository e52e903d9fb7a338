// ls: lists the tensors of a file, for people or as the JSON that scripts depend on.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error_runs.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "codecs/packs/packing.hpp"
#include "convert/no_match.hpp"
#include "formats/format.hpp"
#include "formats/ollama.hpp"
#include "formats/only_tensors.hpp"
#include "resources/packed_config.hpp"
#include "tare/codec.hpp"

namespace tare::cli::ls_verb {
namespace {

using Listed = std::vector<const Tensor*>;
using Broken = std::vector<const BrokenTensor*>;

std::uint64_t first_offset(const Tensor& tensor) {
  std::uint64_t first = UINT64_MAX;
  for (const Component& component : tensor.components)
    if (component.blob.source() != nullptr) first = std::min(first, component.blob.offset());
  return first;
}

// Sorts by a key that is computed once per tensor; ties stay in file order.
template <typename Key, typename Less = std::less<>>
void sort_by(Listed& tensors, const Key& key, const Less& less = {}) {
  using Keyed = std::pair<decltype(key(*tensors[0])), const Tensor*>;
  std::vector<Keyed> keyed;
  keyed.reserve(tensors.size());
  for (const Tensor* tensor : tensors) keyed.emplace_back(key(*tensor), tensor);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) { return less(a.first, b.first); });
  for (std::size_t i = 0; i < keyed.size(); ++i) tensors[i] = keyed[i].second;
}

struct Order {
  std::string_view name;
  void (*sort)(Listed& tensors);
};

constexpr Order kOrders[] = {
    {"name", [](Listed& tensors) { sort_by(tensors, [](const Tensor& t) { return std::string_view(t.name); }); }},
    {"size",
     [](Listed& tensors) {
       sort_by(
           tensors, [](const Tensor& t) { return t.bytes(); }, std::greater<>());
     }},
    {"offset", [](Listed& tensors) { sort_by(tensors, first_offset); }},
    {"type", [](Listed& tensors) { sort_by(tensors, [](const Tensor& t) { return dtype_name(t); }); }},
};

Words order_words() {
  Words words;
  for (const Order& order : kOrders) words.emplace_back(order.name);
  return words;
}

Listed list(const Model& model, const Arguments& arguments) {
  Listed tensors;
  tensors.reserve(model.tensors.size());
  for (const Tensor& tensor : model.tensors)
    if (selected(arguments, tensor.name)) tensors.push_back(&tensor);
  const std::string asked = arguments.get("sort");
  for (const Order& order : kOrders)
    if (order.name == asked) order.sort(tensors);
  return tensors;
}

// Returns the broken tensors, which are listed last in file order because they cannot be sorted.
Broken list_broken(const Model& model, const Arguments& arguments) {
  Broken broken;
  for (const BrokenTensor& tensor : model.broken)
    if (selected(arguments, tensor.tensor.name)) broken.push_back(&tensor);
  return broken;
}

void print_json(const Model& model, const Listed& tensors, const Broken& broken, const std::string& file,
                Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("format").text(model.format).key("version").text(model.version);
  json.key("bytes").number(model.file_bytes).key("metadata").raw(to_json(model.metadata));
  json.key("config").raw(to_json(model.config.to_map())).key("vocabulary");
  write_vocabulary(json, model.vocabulary);
  json.key("attachments");
  write_attachments(json, model);
  json.key("tensors").open('[');
  for (const Tensor* tensor : tensors) {
    json.line_feed();
    write_tensor(json, *tensor, file);
    if (text.size() > (std::size_t{1} << 16)) {
      session.print(text);
      text.clear();
    }
  }
  for (const BrokenTensor* tensor : broken) {
    json.line_feed();
    write_tensor(json, tensor->tensor, file, &tensor->error);
  }
  json.close(']').close('}');
  session.line(text);
}

// The roles of tensors in a model with packed weights ("gptq codes"), for the column of layouts.
class PackedWords {
 public:
  explicit PackedWords(const Model& model)
      : first_(model.tensors.data()), found_(resources::find_packed(model)), packing_(packing_of(model, found_)) {}

  std::string of(const Tensor& tensor) const {
    if (!tensor.is_dense() || !packing_) return tensor.is_dense() ? std::string() : tensor.layout;
    const std::string_view part = found_.parts[static_cast<std::size_t>(&tensor - first_)];
    return part.empty() ? std::string() : fmt::format("{} {}", packing_->scheme, part);
  }

 private:
  const Tensor* first_;
  codec::packs::Found found_;
  std::optional<codec::packs::Packing> packing_;
};

void print_table(const Listed& tensors, const Broken& broken, const PackedWords& packed, Session& session) {
  Table table({{"NAME", Align::left, true},
               {"SHAPE", Align::left, true},
               {"TYPE"},
               {"LAYOUT", Align::left, true},
               {"BYTES", Align::right}});
  for (const Tensor* tensor : tensors)
    table.add({printable(escape_name(tensor->name)), tensor->shape.text(), Cell(dtype_name(*tensor), Style::cyan),
               Cell(packed.of(*tensor), Style::dim), count_text(tensor->bytes())});
  for (const BrokenTensor* found : broken)
    table.add({printable(escape_name(found->tensor.name)), found->tensor.shape.text(), Cell("broken", Style::red),
               Cell(found->tensor.is_dense() ? std::string() : printable(found->tensor.layout), Style::dim),
               std::string()});
  table.print(session);
}

// The models of a store, whose names the other verbs take.
int list_store(const Arguments& arguments, Session& session) {
  const std::vector<ollama::Stored> models = ollama::list();
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("models").open('[');
    for (const ollama::Stored& model : models) {
      json.line_feed();
      json.open('{').key("name").text(model.name).key("bytes").number(model.bytes);
      json.key("manifest").text(model.manifest).close('}');
    }
    json.close(']').close('}');
    session.line(text);
  } else {
    Table table({{"NAME", Align::left, true}, {"BYTES", Align::right}});
    for (const ollama::Stored& model : models) table.add({printable(escape_name(model.name)), count_text(model.bytes)});
    table.print(session);
  }
  session.flush();
  return kDone;
}

Model opened(const std::string& file, const Arguments& arguments) {
  std::optional<OnlyTensors> only;
  if (!arguments.has("json")) only.emplace();
  return open(file, listing_options(arguments));
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  if (file == ollama::kScheme) return list_store(arguments, session);
  const Model model = opened(file, arguments);
  const Listed tensors = list(model, arguments);
  const Broken broken = list_broken(model, arguments);
  if (arguments.has("json"))
    print_json(model, tensors, broken, file, session);
  else
    print_table(tensors, broken, PackedWords(model), session);
  session.flush();
  std::vector<Error> errors;
  for (const BrokenTensor* const tensor : broken) errors.push_back(tensor->error);
  for (const Error& error : runs_summed_up(errors)) session.complain(error, file);
  if (tensors.empty() && broken.empty() && !model.tensors.empty()) {
    const auto& match = arguments.all("match");
    session.remark(match.size() == 1 && !arguments.has("skip") ? no_match(match.front(), model)
                                                               : "no tensor is left: --match and --skip omit all");
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFile};
constexpr Option kOptions[] = {
    kJson,
    {.name = "sort",
     .value = "KEY",
     .help = "sort by KEY instead of file order; size puts the largest first",
     .words = order_words},
    kMatch,
    kSkip,
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare ls model.zt --sort size", "the largest tensors first"},
    {"tare ls model.npz --match 'layers.0.*'", "the tensors of one layer"},
    {"tare ls ollama:", "the models in Ollama's store"},
    {"tare ls model.zt --json | jq -r '.tensors[].name'", "the names, for a script"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "ls",
    .summary = "list the tensors",
    .description =
        "Lists the tensors of FILE in file order: name, shape, type, layout if it is not dense (or what the tensor "
        "is to a model that is quantized already: \"gptq codes\"), and the size of its components, decompressed. Only "
        "the file's metadata is read, also of an address such as hf:ORG/NAME, which downloads nothing else. Tensors "
        "that break a rule come last, as broken, and standard error has the rules; exit code "
        "1.\n\n"
        "The JSON of --json is a contract: one object with format, version, bytes, metadata, config, "
        "vocabulary, attachments and tensors, and for every tensor each component's type, place, size, "
        "encoding and digest. A broken tensor has no components and one key more, error: its kind, rule, offset and "
        "sentence.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::ls_verb
