// formats: prints the tables of containers and layouts, for people, for documents and for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

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

// Whether a flag concerns a container's content or its options.
enum class About : std::uint8_t { content, options };

struct Flag {
  About about;
  std::string_view key;    // JSON, Markdown
  std::string_view title;  // in the table; for an option, as it is typed
  bool (*has)(const Format& format);
};

constexpr Flag kFlags[] = {
    {About::content, "config", "CONFIG", [](const Format& f) { return f.holds.config; }},
    {About::content, "vocabulary", "VOCAB", [](const Format& f) { return f.holds.vocabulary; }},
    {About::content, "attachments", "FILES", [](const Format& f) { return f.holds.attachments; }},
    {About::content, "attributes", "ATTRS", [](const Format& f) { return f.holds.tensor_attributes; }},
    {About::options, "zstd", "--zstd", [](const Format& f) { return f.holds.zstd; }},
    {About::options, "digests", "--digest", [](const Format& f) { return f.holds.digests; }},
    {About::options, "dedup", "--dedup", [](const Format& f) { return f.holds.dedup; }},
    {About::options, "shards", "--shard", [](const Format& f) { return f.holds.shards; }},
    {About::options, "append", "APPEND", [](const Format& f) { return f.append != nullptr; }},
    {About::options, "pipe", "PIPE", [](const Format& f) { return f.holds.forward_only; }},
};

bool is_readable(const Format& format) { return format.read != nullptr; }

std::string access_text(const Format& format) {
  return fmt::format("{}{}", is_readable(format) ? "r" : "", is_writable(format) ? "w" : "");
}

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

// Returns which metadata the format holds: none, texts or any values under any key, or certain keys only.
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

// Returns which tensors the format holds: their layouts, and the architecture if only one is allowed.
std::string tensors_text(const Format& format) {
  const std::string layouts = joined(format.holds.layouts);
  return format.holds.architecture.empty() ? layouts : fmt::format("{}, {} only", layouts, format.holds.architecture);
}

// As in to_dense, a dense tensor needs no decoder.
bool decodes(const Codec& codec) { return codec.decode != nullptr || codec.layout == Tensor().layout; }

std::string dash_if_empty(std::string text) { return text.empty() ? "-" : text; }

Cell yes(bool value) { return value ? Cell("yes", Style::green) : Cell("-", Style::dim); }

void add_columns(std::vector<Column>& columns, About about) {
  for (const Flag& flag : kFlags)
    if (flag.about == about) columns.push_back({std::string(flag.title)});
}

void add_cells(std::vector<Cell>& row, About about, const Format& format) {
  for (const Flag& flag : kFlags)
    if (flag.about == about) row.push_back(yes(flag.has(format)));
}

void print_names(Session& session) {
  Table table({{"FORMAT"}, {"NAME"}, {"SUFFIX"}, {"I/O"}, {"VERSIONS", Align::left, true}});
  for (const Format& format : formats())
    table.add(
        {Cell(format.name, Style::cyan), format.title, joined(format.suffixes), access_text(format), format.versions});
  table.print(session);
}

void print_contents(Session& session) {
  std::vector<Column> columns{{"FORMAT"}, {"METADATA"}};
  add_columns(columns, About::content);
  columns.push_back({"TYPES", Align::left, true});
  columns.push_back({"LAYOUTS", Align::left, true});
  Table table(columns);
  for (const Format& format : formats()) {
    std::vector<Cell> row{Cell(format.name, Style::cyan), metadata_text(format)};
    add_cells(row, About::content, format);
    row.emplace_back(types_text(format));
    row.emplace_back(tensors_text(format));
    table.add(std::move(row));
  }
  table.print(session);
}

void print_options(Session& session) {
  std::vector<Column> columns{{"FORMAT"}};
  add_columns(columns, About::options);
  columns.push_back({"--dialect"});
  Table table(columns);
  for (const Format& format : formats()) {
    std::vector<Cell> row{Cell(format.name, Style::cyan)};
    add_cells(row, About::options, format);
    row.emplace_back(dash_if_empty(joined(format.holds.dialects)));
    table.add(std::move(row));
  }
  table.print(session);
}

void print_layouts(Session& session) {
  Table table({{"LAYOUT"}, {"TYPE"}, {"DECODES"}, {"--quant", Align::left, true}, {"WHAT", Align::left, true}});
  for (const Codec& codec : codecs())
    table.add({Cell(codec.layout, Style::cyan), dash_if_empty(std::string(codec.name)), yes(decodes(codec)),
               dash_if_empty(joined(codec.methods)), codec.title});
  table.print(session);
}

void print_table(Session& session) {
  print_names(session);
  session.line();
  print_contents(session);
  session.line();
  print_options(session);
  session.line();
  print_layouts(session);
}

// Returns for example "config, vocabulary".
std::string keys_text(About about, const Format& format) {
  std::vector<std::string> keys;
  for (const Flag& flag : kFlags)
    if (flag.about == about && flag.has(format)) keys.emplace_back(flag.key);
  if (about == About::options && !format.holds.dialects.empty())
    keys.push_back(fmt::format("dialects {}", fmt::join(format.holds.dialects, " and ")));
  return dash_if_empty(fmt::format("{}", fmt::join(keys, ", ")));
}

std::string coded(Names names) {
  std::vector<std::string> words;
  for (const std::string_view name : names) words.push_back(fmt::format("`{}`", name));
  return dash_if_empty(fmt::format("{}", fmt::join(words, " ")));
}

void print_markdown(Session& session) {
  session.line(
      "| format | name | suffix | versions | reads | writes | types | layouts | metadata | also holds | options |");
  session.line("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  const auto word = [](bool value) { return value ? "yes" : "no"; };
  for (const Format& format : formats())
    session.line(fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", format.name, format.title,
                             coded(format.suffixes), format.versions, word(is_readable(format)),
                             word(is_writable(format)), types_text(format), tensors_text(format), metadata_text(format),
                             keys_text(About::content, format), keys_text(About::options, format)));
  session.line();
  session.line("| layout | type shown | decodes | `--quant` | what |");
  session.line("| --- | --- | --- | --- | --- |");
  for (const Codec& codec : codecs())
    session.line(fmt::format("| `{}` | {} | {} | {} | {} |", codec.layout,
                             codec.name.empty() ? "its values'" : fmt::format("`{}`", codec.name), word(decodes(codec)),
                             coded(codec.methods), codec.title));
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
    json.key("reads").boolean(is_readable(format)).key("writes").boolean(is_writable(format));
    json.key("dtypes").open('[');
    for (const DType type : format.holds.dtypes) json.text(tare::name_of(type));
    json.close(']');
    write_names(json, "types", format.holds.logical_types);
    write_names(json, "layouts", format.holds.layouts);
    json.key("metadata").text(name_of(format.holds.metadata));
    write_names(json, "metadata_keys", format.holds.metadata == Room::none ? Names() : format.holds.metadata_keys);
    for (const Flag& flag : kFlags) json.key(flag.key).boolean(flag.has(format));
    write_names(json, "dialects", format.holds.dialects);
    json.key("many_tensors").boolean(format.holds.many_tensors);
    json.key("architecture").text(format.holds.architecture).close('}');
  }
  json.close(']').key("layouts").open('[');
  for (const Codec& codec : codecs()) {
    json.line_feed().open('{').key("layout").text(codec.layout).key("type").text(codec.name);
    json.key("title").text(codec.title);
    write_names(json, "quant", codec.methods);
    json.key("decodes").boolean(decodes(codec)).close('}');
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
        "Prints what Tare knows of each container: its name, suffixes and versions, and whether Tare reads (r) and "
        "writes (w) it; then what it holds besides tensors (metadata under any key, or under a few of its own; the "
        "model's configuration, a vocabulary, attached files, attributes of tensors), and which types and layouts of "
        "tensors; then the options of convert that it honours, whether it can grow in place (append) and whether it "
        "can be written to a "
        "pipe. The last table "
        "is that of the layouts, with the methods of --quant that produce each.",
    .operands = {},
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::formats_verb
