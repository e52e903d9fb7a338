// formats: the tables of containers and layouts, for people, for documents and for programs.
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "tare/codec.hpp"
#include "tare/format.hpp"

namespace tare::cli::formats_verb {
namespace {

using Names = std::span<const std::string_view>;

// Capabilities that are yes or no, each with its column.
struct Flag {
  std::string_view key;    // JSON
  std::string_view title;  // table
  bool (*has)(const Format& format);
};

constexpr Flag kFlags[] = {
    {"config", "CONFIG", [](const Format& f) { return f.holds.config; }},
    {"vocabulary", "VOCAB", [](const Format& f) { return f.holds.vocabulary; }},
    {"attachments", "FILES", [](const Format& f) { return f.holds.attachments; }},
    {"attributes", "ATTRS", [](const Format& f) { return f.holds.tensor_attributes; }},
    {"zstd", "ZSTD", [](const Format& f) { return f.holds.zstd; }},
    {"digests", "DIGESTS", [](const Format& f) { return f.holds.digests; }},
    {"dedup", "DEDUP", [](const Format& f) { return f.holds.dedup; }},
    {"pipe", "PIPE", [](const Format& f) { return f.holds.forward_only; }},
};

std::string_view access_text(const Format& format) { return is_writable(format) ? "rw" : "r"; }

std::string_view name_of(Room room) {
  switch (room) {
    case Room::none: return "none";
    case Room::strings: return "strings";
    case Room::tree: return "tree";
  }
  return "?";
}

bool any(Names names) { return names.size() == 1 && names[0] == "*"; }

std::string joined(Names names) { return any(names) ? "any" : fmt::format("{}", fmt::join(names, " ")); }

// What metadata it takes: none, texts or any values under any key, or certain keys only.
std::string metadata_text(const Format& format) {
  const bool certain = format.holds.metadata != Room::none && !any(format.holds.metadata_keys);
  return certain ? fmt::format("{} keys", format.holds.metadata_keys.size())
                 : std::string(name_of(format.holds.metadata));
}

std::string dtypes_text(const Format& format) {
  if (format.holds.dtypes.size() == kAllDTypes.size()) return fmt::format("all {}", kAllDTypes.size());
  std::string text;
  for (const DType type : format.holds.dtypes)
    text += fmt::format("{}{}", text.empty() ? "" : " ", tare::name_of(type));
  return text;
}

std::string types_text(const Format& format) {
  const Names logical = format.holds.logical_types;
  if (logical.empty()) return dtypes_text(format);
  return fmt::format("{} + {}", dtypes_text(format), any(logical) ? "any logical" : joined(logical));
}

// What tensors it takes: their layouts, and whether they must be those of one architecture.
std::string tensors_text(const Format& format) {
  const std::string layouts = joined(format.holds.layouts);
  return format.holds.architecture.empty() ? layouts : fmt::format("{}, {} only", layouts, format.holds.architecture);
}

// As to_dense does: what is dense already needs no decoder.
bool decodes(const Codec& codec) { return codec.decode != nullptr || codec.layout == Tensor().layout; }

std::string yes(bool value) { return value ? "yes" : "-"; }

void print_table(Session& session) {
  std::vector<Column> columns{{"FORMAT"}, {"NAME", Align::left, true}, {"SUFFIX"}, {"I/O"}, {"METADATA"}};
  for (const Flag& flag : kFlags) columns.push_back({std::string(flag.title)});
  Table table(columns);
  for (const Format& format : formats()) {
    std::vector<Cell> row{Cell(format.name, Style::cyan), format.title, joined(format.suffixes), access_text(format),
                          metadata_text(format)};
    for (const Flag& flag : kFlags)
      row.emplace_back(yes(flag.has(format)), flag.has(format) ? Style::green : Style::dim);
    table.add(std::move(row));
  }
  table.print(session);

  session.line();
  Table held(
      {{"FORMAT"}, {"VERSIONS", Align::left, true}, {"TYPES", Align::left, true}, {"LAYOUTS", Align::left, true}});
  for (const Format& format : formats())
    held.add({Cell(format.name, Style::cyan), format.versions, types_text(format), tensors_text(format)});
  held.print(session);

  session.line();
  Table layouts({{"LAYOUT"}, {"TYPE"}, {"DECODES"}, {"--quant", Align::left, true}, {"WHAT", Align::left, true}});
  for (const Codec& codec : codecs())
    layouts.add({Cell(codec.layout, Style::cyan), codec.name.empty() ? "-" : codec.name, yes(decodes(codec)),
                 codec.methods.empty() ? std::string("-") : joined(codec.methods), codec.title});
  layouts.print(session);
}

void print_markdown(Session& session) {
  session.line(
      "| format | name | suffix | versions | reads | writes | types | layouts | metadata | also holds | options |");
  session.line("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const Format& format : formats()) {
    std::vector<std::string_view> holds, options;
    for (const Flag& flag : kFlags)
      if (flag.has(format))
        (flag.key == "zstd" || flag.key == "digests" || flag.key == "dedup" || flag.key == "pipe" ? options : holds)
            .push_back(flag.key);
    std::vector<std::string> suffixes;
    for (const std::string_view suffix : format.suffixes) suffixes.push_back(fmt::format("`{}`", suffix));
    session.line(fmt::format("| `{}` | {} | {} | {} | yes | {} | {} | {} | {} | {} | {} |", format.name, format.title,
                             fmt::join(suffixes, " "), format.versions, is_writable(format) ? "yes" : "no",
                             types_text(format), tensors_text(format), metadata_text(format),
                             holds.empty() ? "-" : fmt::format("{}", fmt::join(holds, ", ")),
                             options.empty() ? "-" : fmt::format("{}", fmt::join(options, ", "))));
  }
  session.line();
  session.line("| layout | type shown | `--quant` | what |");
  session.line("| --- | --- | --- | --- |");
  for (const Codec& codec : codecs()) {
    std::vector<std::string> methods;
    for (const std::string_view method : codec.methods) methods.push_back(fmt::format("`{}`", method));
    session.line(fmt::format("| `{}` | {} | {} | {} |", codec.layout,
                             codec.name.empty() ? "its values'" : fmt::format("`{}`", codec.name),
                             methods.empty() ? "-" : fmt::format("{}", fmt::join(methods, " ")), codec.title));
  }
}

void write_names(JsonWriter& json, std::string_view key, Names names) {
  json.key(key).open('[');
  for (const std::string_view name : names) json.text(name);
  json.close(']');
}

void print_json(Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("formats").open('[');
  for (const Format& format : formats()) {
    json.line_feed().open('{').key("name").text(format.name).key("title").text(format.title);
    json.key("versions").text(format.versions);
    write_names(json, "suffixes", format.suffixes);
    json.key("reads").boolean(format.read != nullptr).key("writes").boolean(is_writable(format));
    json.key("dtypes").open('[');
    for (const DType type : format.holds.dtypes) json.text(tare::name_of(type));
    json.close(']');
    write_names(json, "types", format.holds.logical_types);
    write_names(json, "layouts", format.holds.layouts);
    json.key("metadata").text(name_of(format.holds.metadata));
    write_names(json, "metadata_keys", format.holds.metadata == Room::none ? Names() : format.holds.metadata_keys);
    for (const Flag& flag : kFlags) json.key(flag.key).boolean(flag.has(format));
    json.key("many_tensors").boolean(format.holds.many_tensors);
    json.key("architecture").text(format.holds.architecture).close('}');
  }
  json.close(']').key("layouts").open('[');
  for (const Codec& codec : codecs()) {
    json.line_feed().open('{').key("layout").text(codec.layout).key("type").text(codec.name);
    json.key("title").text(codec.title);
    write_names(json, "quant", codec.methods);
    json.close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.has("json") && arguments.has("markdown")) throw UsageError("--json or --markdown, not both");
  if (arguments.has("json"))
    print_json(session);
  else if (arguments.has("markdown"))
    print_markdown(session);
  else
    print_table(session);
  return kDone;
}

constexpr Option kOptions[] = {kJson, {.name = "markdown", .help = "print Markdown, for documents"}};
constexpr Example kExamples[] = {
    {"tare formats --json | jq -r '.formats[] | select(.writes).name'", "what can be written"}};

}  // namespace

constexpr Verb kVerb{
    .name = "formats",
    .summary = "the containers and what each can hold",
    .description =
        "Prints the table of containers: what each is called, its suffixes, whether Tare reads (r) or also "
        "writes (w) it, and whether it has room for metadata (under any key, or a few of its own), the model's "
        "configuration, a vocabulary, "
        "attached files and attributes of tensors; whether it honours --zstd, --digest and --dedup and can be "
        "written to a pipe. Then the types and layouts it holds, and the layouts themselves.",
    .operands = {},
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::formats_verb
