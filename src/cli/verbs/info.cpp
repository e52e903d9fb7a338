// info: prints one screen about a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.hpp"
#include "base/error_runs.hpp"
#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/packed_remarks.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "codecs/packs/packing.hpp"
#include "codecs/packs/stored.hpp"
#include "formats/format.hpp"
#include "formats/registry_limits.hpp"
#include "resources/adapter.hpp"
#include "resources/packed_config.hpp"
#include "tare/codec.hpp"
#include "tare/pipeline.hpp"

namespace tare::cli::info_verb {
namespace {

// Limits that keep the output to one screen.
constexpr std::size_t kLargest = 5, kTypes = 8, kMetadataKeys = 12, kValueColumns = 60, kBarColumns = 24, kBroken = 8;

struct TypeSum {
  std::string type;
  std::uint64_t tensors = 0, bytes = 0, stored = 0;
  std::optional<std::uint64_t> parameters = 0;  // nothing: more than 64 bits can count, as a sparse tensor may state

  void add_parameters(std::optional<std::uint64_t> more) {
    parameters = parameters && more ? checked_add(*parameters, *more) : std::nullopt;
  }
};

struct Summary {
  std::vector<TypeSum> types;          // most bytes first
  std::vector<const Tensor*> largest;  // most bytes first
  TypeSum all;
};

Summary sum_up(const Model& model) {
  Summary summary;
  std::map<std::string, TypeSum> types;
  for (const Tensor& tensor : model.tensors) {
    const std::string type = dtype_name(tensor);
    for (TypeSum* sum : {&types[type], &summary.all}) {
      sum->type = type;
      sum->tensors += 1;
      sum->add_parameters(tensor.shape.elements());
      sum->bytes += tensor.bytes();
      sum->stored += tensor.stored_bytes();
    }
    summary.largest.push_back(&tensor);
  }
  for (auto& [name, sum] : types) summary.types.push_back(std::move(sum));
  std::stable_sort(summary.types.begin(), summary.types.end(),
                   [](const TypeSum& a, const TypeSum& b) { return a.bytes > b.bytes; });
  const auto shown = static_cast<std::ptrdiff_t>(std::min(kLargest, summary.largest.size()));
  // Equal tensors stay in file order, so that the output is always the same.
  std::partial_sort(
      summary.largest.begin(), summary.largest.begin() + shown, summary.largest.end(),
      [](const Tensor* a, const Tensor* b) { return a->bytes() != b->bytes() ? a->bytes() > b->bytes() : a < b; });
  summary.largest.resize(static_cast<std::size_t>(shown));
  return summary;
}

// Rounds large numbers: "1.24 billion" is easier to read than all digits.
std::string parameters_text(std::optional<std::uint64_t> counted_parameters) {
  if (!counted_parameters) return "more than 2^64 parameters";
  const std::uint64_t number = *counted_parameters;
  const auto value = static_cast<double>(number);
  if (number >= 1'000'000'000) return fmt::format("{:.2f} billion parameters", value / 1e9);
  if (number >= 1'000'000) return fmt::format("{:.2f} million parameters", value / 1e6);
  return counted(number, "parameter");
}

// How many bits an element takes on average; nothing if their number is unknown or 0.
std::optional<double> bits_per_weight(const TypeSum& sum) {
  if (sum.parameters.value_or(0) == 0) return std::nullopt;
  return 8.0 * static_cast<double>(sum.bytes) / static_cast<double>(*sum.parameters);
}

// What the config states about the whole: "llama, 32 layers, a context of 8,192 tokens, mostly ggml.q4_k".
std::string kind_text(const Model& model, const Summary& summary) {
  std::vector<std::string> facts;
  const Config& config = model.config;
  if (config.model_type) facts.push_back(printable(*config.model_type));
  const auto positive = [](const std::optional<std::int64_t>& number) { return number.value_or(0) > 0; };
  if (positive(config.num_hidden_layers))
    facts.push_back(counted(static_cast<std::uint64_t>(*config.num_hidden_layers), "layer"));
  if (positive(config.max_position_embeddings))
    facts.push_back(
        fmt::format("a context of {} tokens", count_text(static_cast<std::uint64_t>(*config.max_position_embeddings))));
  const auto most =
      std::ranges::max_element(summary.types, {}, [](const TypeSum& sum) { return sum.parameters.value_or(0); });
  if (most != summary.types.end() && !parse_dtype(most->type)) facts.push_back("mostly " + printable(most->type));
  return fmt::format("{}", fmt::join(facts, ", "));
}

void heading(std::string_view text, Session& session) {
  session.line();
  session.line(session.paint(Style::bold, text));
}

void print_types(const Summary& summary, Session& session) {
  heading("types", session);
  Table table({{},
               {"", Align::right},
               {"", Align::right},
               {"", Align::right},
               {.align = Align::right, .spare = 1},
               {.spare = 2}},
              "  ");
  std::vector<TypeSum> shown = summary.types;
  if (shown.size() > kTypes) {
    TypeSum rest;
    rest.type = fmt::format("{} others", shown.size() - kTypes + 1);
    for (std::size_t i = kTypes - 1; i < shown.size(); ++i) {
      rest.tensors += shown[i].tensors;
      rest.add_parameters(shown[i].parameters);
      rest.bytes += shown[i].bytes;
    }
    shown.resize(kTypes - 1);
    shown.push_back(rest);
  }
  for (const TypeSum& sum : shown) {
    const double share =
        summary.all.bytes > 0 ? static_cast<double>(sum.bytes) / static_cast<double>(summary.all.bytes) : 0;
    table.add({Cell(printable(sum.type), Style::cyan), counted(sum.tensors, "tensor"),
               sum.parameters ? count_text(*sum.parameters) : "more than 2^64", size_text(sum.bytes),
               fmt::format("{:.1f}%", share * 100),
               Cell(share_bar(share, kBarColumns, session.unicode()), Style::green)});
  }
  table.print(session);
}

void print_largest(const Summary& summary, Session& session) {
  heading("largest tensors", session);
  Table table({{"", Align::left, true}, {"", Align::left, true}, {}, {"", Align::right}}, "  ");
  for (const Tensor* tensor : summary.largest)
    table.add({printable(escape_name(tensor->name)), tensor->shape.text(), Cell(dtype_name(*tensor), Style::cyan),
               size_text(tensor->bytes())});
  table.print(session);
}

void print_map(std::string_view title, const Map& map, std::size_t most, Session& session) {
  if (map.empty()) return;
  heading(title, session);
  Table table({{"", Align::left, true}, prose()}, "  ");
  std::size_t shown = 0;
  for (const auto& [key, value] : map) {
    if (shown++ == most) break;
    const std::string* text = value.text();
    table.add({printable(key),
               elide_end(printable(text != nullptr ? *text : to_json(value)), kValueColumns, session.ellipsis())});
  }
  table.print(session);
  if (map.size() > most)
    session.line(fmt::format("  and {} more; `tare ls --json` prints all", count_text(map.size() - most)));
}

void print_vocabulary(const Vocabulary& vocabulary, Session& session) {
  if (vocabulary.empty()) return;
  heading("tokenizer", session);
  session.line("  " + printable(summary_of(vocabulary)));
}

// The packing of a model that another program quantized.
struct PackedFacts {
  std::optional<codec::packs::Packing> found;
  bool decoded = false;  // all packed weights are tensors of their true shapes
  double bits_per_weight = 0;

  explicit PackedFacts(const Model& model) {
    const codec::packs::StoredForm arrays(model);
    found = packing_of(*arrays, resources::find_packed(*arrays));
    double bits = 0, weights = 0;
    for (const Tensor& tensor : model.tensors)
      if (codec::packs::is_joined(tensor)) {
        bits += 8.0 * static_cast<double>(tensor.bytes());
        weights += static_cast<double>(tensor.shape.elements().value_or(0));
      }
    bits_per_weight = weights == 0 ? 0 : bits / weights;
    decoded = found && codec::packs::has_joined(model) && !resources::find_packed(model).any();
  }
};

// Returns what the adapter is, or why that is unknown; empty for a model that is not an adapter.
std::string adapter_text(const Model& model) {
  try {
    const auto adapter = resources::find_adapter(model);
    if (!adapter) return {};
    return adapter->text() + (adapter->unmergeable.empty() ? "" : "; it cannot be merged: " + adapter->unmergeable);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return fmt::format("adapter; {}: {}", error.file(), error.sentence());
  }
}

void print_text(const Model& model, const std::string& file, Session& session) {
  const Summary summary = sum_up(model);
  const Format* const format = find_format(model.format);
  session.line(fmt::format("{}: {}{}, {}", session.paint(Style::bold, printable(file)),
                           format != nullptr ? format->title : std::string_view(model.format),
                           printable(model.version.empty() ? "" : fmt::format(" ({} {})", model.format, model.version)),
                           size_text(model.file_bytes)));
  const PackedFacts packed(model);
  std::string sizes = size_text(summary.all.bytes);
  if (summary.all.stored != summary.all.bytes) sizes += fmt::format(" (stored in {})", size_text(summary.all.stored));
  if (const std::string adapter = adapter_text(model); !adapter.empty()) session.line(printable(adapter));
  const bool unpacked = !packed.decoded && packed.found && packed.found->parameters;
  const auto bits = packed.found ? std::nullopt : bits_per_weight(summary.all);
  session.line(fmt::format("{}, {}, {}{}", counted(summary.all.tensors, "tensor"),
                           parameters_text(unpacked ? packed.found->parameters : summary.all.parameters), sizes,
                           bits ? fmt::format(", {:.2f} bits per weight", *bits) : ""));
  if (const std::string kind = kind_text(model, summary); !kind.empty()) session.line(kind);
  if (packed.decoded)
    session.line(fmt::format("quantized already: {}, {:.2f} bits per weight", printable(packed.found->text()),
                             packed.bits_per_weight));
  else if (packed.found)
    session.line(fmt::format("quantized already: {}; {} are counted as they are stored",
                             printable(packed.found->text()), unpacked ? "the numbers by type" : "all numbers"));
  if (!model.broken.empty())
    session.line(session.paint(
        Style::red, fmt::format("{} broken: `tare verify` says why", counted(model.broken.size(), "tensor"))));
  if (!model.tensors.empty()) {
    print_types(summary, session);
    print_largest(summary, session);
  }
  print_map("config", model.config.to_map(), SIZE_MAX, session);
  print_vocabulary(model.vocabulary, session);
  print_map("metadata", model.metadata, kMetadataKeys, session);
  if (model.attachments.empty()) return;
  heading("attachments", session);
  Table table({{"", Align::left, true}, {"", Align::right}}, "  ");
  for (const Attachment& attachment : model.attachments)
    table.add({printable(escape_name(attachment.name)), size_text(attachment.blob.size())});
  table.print(session);
}

void write_count(JsonWriter& json, std::optional<std::uint64_t> count) {
  if (count)
    json.number(*count);
  else
    json.null();
}

// Writes the packing of a quantized model; null for any other.
void write_packed(JsonWriter& json, const std::optional<codec::packs::Packing>& packed) {
  json.key("packed");
  if (!packed) {
    json.null();
    return;
  }
  json.open('{').key("scheme").text(packed->scheme).key("title").text(packed->title).key("bits");
  write_count(json, packed->bits);
  json.key("group");
  write_count(json, packed->group);
  json.key("stored").text(packed->stored).key("tensors").number(packed->tensors).key("parameters");
  write_count(json, packed->parameters);
  json.key("said_by").text(packed->said_by).close('}');
}

void write_adapter(JsonWriter& json, const Model& model) {
  const std::string text = adapter_text(model);
  if (text.empty()) return;
  json.key("adapter").open('{').key("text").text(text);
  try {
    const auto adapter = resources::find_adapter(model);
    json.key("method").text(adapter->method).key("base").text(adapter->base).key("rank");
    write_count(json, adapter->rank);
    json.key("alpha").raw(to_json(Value(adapter->alpha))).key("layers").number(std::uint64_t{adapter->layers});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
  json.close('}');
}

void print_json(const Model& model, const std::string& file, Session& session) {
  const Summary summary = sum_up(model);
  std::string text;
  JsonWriter json(text);
  json.open('{').key("file").text(file).key("format").text(model.format).key("version").text(model.version);
  json.key("bytes").number(model.file_bytes).key("tensors").number(summary.all.tensors);
  json.key("parameters");
  write_count(json, summary.all.parameters);
  json.key("tensor_bytes").number(summary.all.bytes).key("bits_per_weight");
  const auto bits = bits_per_weight(summary.all);
  json.raw(to_json(bits ? Value(*bits) : Value())).key("family");
  json.raw(to_json(model.config.model_type ? Value(*model.config.model_type) : Value()));
  json.key("stored_bytes").number(summary.all.stored).key("types").open('[');
  for (const TypeSum& sum : summary.types) {
    json.open('{').key("dtype").text(sum.type).key("tensors").number(sum.tensors).key("parameters");
    write_count(json, sum.parameters);
    json.key("bytes").number(sum.bytes).key("stored_bytes").number(sum.stored).close('}');
  }
  json.close(']').key("metadata").raw(to_json(model.metadata)).key("config").raw(to_json(model.config.to_map()));
  json.key("vocabulary");
  write_vocabulary(json, model.vocabulary);
  json.key("attachments");
  write_attachments(json, model);
  write_packed(json, PackedFacts(model).found);
  write_adapter(json, model);
  if (!model.broken.empty()) json.key("broken").number(std::uint64_t{model.broken.size()});
  json.close('}');
  session.line(text);
}

// A part of a pipeline with its sums.
struct CountedPart {
  PipelinePart part;
  TypeSum all = {};
  std::uint64_t file_bytes = 0;
  std::string type = {};  // the type of most of its bytes
};

CountedPart counted_part(const std::string& directory, const PipelinePart& part, const ReadOptions& options) {
  CountedPart counted{.part = part};
  if (!part.is_model) return counted;
  const Model model = open(fmt::format("{}/{}", directory, part.name), options);
  Summary summary = sum_up(model);
  if (!summary.types.empty()) counted.type = summary.types.front().type;
  counted.all = std::move(summary.all);
  counted.file_bytes = model.file_bytes;
  return counted;
}

void print_pipeline(const Pipeline& pipeline, const std::vector<CountedPart>& parts, const TypeSum& all,
                    std::uint64_t file_bytes, const std::string& file, Session& session) {
  const auto models = std::ranges::count_if(parts, [](const CountedPart& part) { return part.part.is_model; });
  session.line(fmt::format("{}: a pipeline ({}), {}, {}", session.paint(Style::bold, printable(file)),
                           printable(escape_name(pipeline.kind)), counted(static_cast<std::uint64_t>(models), "model"),
                           size_text(file_bytes)));
  session.line(
      fmt::format("{}, {}, {}", counted(all.tensors, "tensor"), parameters_text(all.parameters), size_text(all.bytes)));
  heading("parts", session);
  Table table({{"", Align::left, true},
               {"", Align::left, true},
               {},
               {"", Align::right},
               {"", Align::right},
               {"", Align::right}},
              "  ");
  for (const CountedPart& part : parts) {
    const std::string name = printable(escape_name(part.part.name)), kind = printable(escape_name(part.part.kind));
    if (part.part.is_model)
      table.add({name + "/", kind, Cell(printable(part.type), Style::cyan), counted(part.all.tensors, "tensor"),
                 parameters_text(part.all.parameters), size_text(part.file_bytes)});
    else
      table.add({name + "/", kind, "", "", "", ""});
  }
  table.print(session);
}

void print_pipeline_json(const Pipeline& pipeline, const std::vector<CountedPart>& parts, const TypeSum& all,
                         std::uint64_t file_bytes, const std::string& file, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("file").text(file).key("pipeline").text(pipeline.kind).key("bytes").number(file_bytes);
  json.key("tensors").number(all.tensors).key("parameters");
  write_count(json, all.parameters);
  json.key("tensor_bytes").number(all.bytes).key("parts").open('[');
  for (const CountedPart& part : parts) {
    json.open('{').key("name").text(part.part.name).key("kind").text(part.part.kind).key("is_model");
    json.raw(part.part.is_model ? "true" : "false").key("bytes").number(part.file_bytes);
    json.key("tensors").number(part.all.tensors).key("parameters");
    write_count(json, part.all.parameters);
    json.key("tensor_bytes").number(part.all.bytes).close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

// Shows a pipeline: opens every part that is a model. A part that cannot be opened is reported and not counted.
void show_pipeline(const Pipeline& pipeline, const std::string& file, const Arguments& arguments, Session& session) {
  std::vector<CountedPart> parts;
  std::vector<Error> failed;
  TypeSum all;
  std::uint64_t file_bytes = 0;
  const ReadOptions options = listing_options(arguments);
  const CountedAsOne together(options.limits);
  for (PipelinePart part : pipeline.parts) {
    try {
      if (part.same_as.empty()) {
        parts.push_back(counted_part(file, part, options));
      } else {
        const auto name_of = [](const CountedPart& counted) -> const std::string& { return counted.part.name; };
        CountedPart same = *std::ranges::find(parts, part.same_as, name_of);
        part.is_model = same.part.is_model;
        same.part = part;
        parts.push_back(std::move(same));
      }
    } catch (const Error& error) {
      failed.push_back(error);
      part.is_model = false;
      parts.push_back({.part = part});
    }
    const CountedPart& last = parts.back();
    all.tensors += last.all.tensors;
    all.bytes += last.all.bytes;
    all.add_parameters(last.all.parameters);
    file_bytes += last.file_bytes;
  }
  (arguments.has("json") ? print_pipeline_json : print_pipeline)(pipeline, parts, all, file_bytes, file, session);
  session.flush();
  for (const Error& error : failed) session.complain(error, file);
}

void show(const std::string& file, const Arguments& arguments, Session& session) {
  if (const auto pipeline = find_pipeline(file)) return show_pipeline(*pipeline, file, arguments, session);
  const Model model = open(file, listing_options(arguments));
  if (arguments.has("json"))
    print_json(model, file, session);
  else
    print_text(model, file, session);
  session.flush();
  remark_guesses(model, session);
  std::vector<Error> errors;
  for (const BrokenTensor& broken : model.broken) errors.push_back(broken.error);
  errors = runs_summed_up(errors);
  for (std::size_t i = 0; i < std::min(kBroken, errors.size()); ++i) session.complain(errors[i], file);
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.size() == 1) return show(arguments.operand(0), arguments, session), kDone;
  bool first = true;
  for (const std::string& file : arguments.operands()) {
    if (!std::exchange(first, false) && !arguments.has("json")) session.line();
    try {
      show(file, arguments, session);
    } catch (const Error& error) {
      if (stdout_reader_gone()) throw;
      session.give_up(error, file);
    }
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFiles};
constexpr Option kOptions[] = {kJson, kNoMmap, kMaxExpansion};
constexpr Example kExamples[] = {{"tare info model.zt", "what is this?"}};

}  // namespace

constexpr Verb kVerb{
    .name = "info",
    .summary = "one screen about a file",
    .description =
        "Shows what FILE is: format and version, tensors and parameters, sizes by type, the largest tensors, "
        "the model's configuration, its tokenizer, metadata and attachments. Only the file's metadata is read. For a "
        "diffusers pipeline, shows its parts. `tare FILE` does the same. FILE may also be an address (hf:ORG/NAME, "
        "https://..., s3://...), of which only the needed parts are read, or a model of Ollama's (ollama:NAME). With "
        "several files, --json prints one object per line.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::info_verb
