// formats: prints the tables of containers and layouts, for people, for documents and for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "tare/codec.hpp"

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

// The same for documents: a family of many layouts, such as ggml's, is one entry.
std::string short_tensors_text(const Format& format) {
  constexpr std::ptrdiff_t kMany = 8;
  const Names layouts = format.holds.layouts;
  if (any(layouts)) return tensors_text(format);
  std::vector<std::string> entries;
  for (const std::string_view layout : layouts) {
    const std::string_view family = layout.substr(0, layout.find('.') + 1);  // empty without a dot
    const auto size = std::ranges::count_if(layouts, [&](std::string_view other) { return other.starts_with(family); });
    std::string entry =
        family.empty() || size <= kMany ? std::string(layout) : fmt::format("`{}*` ({} layouts)", family, size);
    if (entries.empty() || entries.back() != entry) entries.push_back(std::move(entry));
  }
  const std::string text = fmt::format("{}", fmt::join(entries, " "));
  return format.holds.architecture.empty() ? text : fmt::format("{}, {} only", text, format.holds.architecture);
}

// As in to_dense, a dense tensor needs no decoder.
bool decodes(const Codec& codec) { return codec.decode != nullptr || codec.layout == Tensor().layout; }

std::string dash_if_empty(std::string text) { return text.empty() ? "-" : text; }

Cell yes(bool value) { return value ? Cell("yes", Style::green) : Cell("-", Style::dim); }

void print_formats(Session& session) {
  Table table({{"FORMAT"}, {"NAME"}, {"SUFFIX"}, {"I/O"}, {.title = "VERSIONS", .spare = 1}});
  for (const Format& format : formats())
    table.add(
        {Cell(format.name, Style::cyan), format.title, joined(format.suffixes), access_text(format), format.versions});
  table.print(session);
}

void print_layouts(Session& session) {
  Table table({{"LAYOUT"},
               {.title = "TYPE", .spare = 2},
               {.title = "DECODES", .spare = 1},
               {"--quant", Align::left, true},
               prose("WHAT")});
  for (const Codec& codec : codecs())
    table.add({Cell(codec.layout, Style::cyan), dash_if_empty(std::string(codec.name)), yes(decodes(codec)),
               dash_if_empty(joined(codec.methods)), codec.title});
  table.print(session);
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

// Prints what one container can hold, one fact per line.
void print_format(const Format& format, Session& session) {
  session.line(fmt::format("{}: {}", session.paint(Style::bold, format.name), format.title));
  Table table({{}, prose()}, "  ");
  table.add({"suffix", joined(format.suffixes)});
  table.add({"access", fmt::format("{}{}", is_readable(format) ? "read" : "", is_writable(format) ? ", write" : "")});
  table.add({"versions", format.versions});
  table.add({"types", types_text(format)});
  table.add({"layouts", tensors_text(format)});
  table.add({"metadata", metadata_text(format)});
  table.add({"also holds", keys_text(About::content, format)});
  table.add({"options", keys_text(About::options, format)});
  table.print(session);
}

const char* word_of(bool value) { return value ? "yes" : "no"; }

void print_formats_markdown(Session& session) {
  session.line(
      "| format | name | suffix | versions | reads | writes | types | layouts | metadata | also holds | options |");
  session.line("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const Format& format : formats())
    session.line(fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |", format.name, format.title,
                             coded(format.suffixes), format.versions, word_of(is_readable(format)),
                             word_of(is_writable(format)), types_text(format), short_tensors_text(format),
                             metadata_text(format), keys_text(About::content, format),
                             keys_text(About::options, format)));
}

void print_layouts_markdown(Session& session) {
  session.line("| layout | type shown | decodes | `--quant` | what |");
  session.line("| --- | --- | --- | --- | --- |");
  for (const Codec& codec : codecs())
    session.line(fmt::format("| `{}` | {} | {} | {} | {} |", codec.layout,
                             codec.name.empty() ? "its values'" : fmt::format("`{}`", codec.name),
                             word_of(decodes(codec)), coded(codec.methods), codec.title));
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

const Format& format_called(const std::string& name) {
  if (const Format* const format = find_format(name)) return *format;
  Words names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  const std::string meant = did_you_mean(name, names, 1);
  throw UsageError(fmt::format("unknown format '{}'{}", printable(name),
                               meant.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : meant));
}

int run(const Arguments& arguments, Session& session) {
  const bool layouts = arguments.has("layouts"), markdown = arguments.has("markdown");
  if (arguments.has("json") && (markdown || layouts))
    throw UsageError("--json prints everything and excludes other options");
  if (arguments.size() > 0 && (arguments.has("json") || markdown || layouts))
    throw UsageError("FORMAT excludes --json, --layouts and --markdown");
  if (arguments.size() > 0)
    print_format(format_called(arguments.operand(0)), session);
  else if (arguments.has("json"))
    print_json(session);
  else if (markdown)
    (layouts ? print_layouts_markdown : print_formats_markdown)(session);
  else
    (layouts ? print_layouts : print_formats)(session);
  return kDone;
}

constexpr Operand kOperands[] = {{.name = "FORMAT", .required = false}};
constexpr Option kOptions[] = {
    kJson,
    {.name = "layouts", .help = "list the layouts of tensors instead, with the methods of --quant that produce each"},
    {.name = "markdown", .help = "print Markdown, for documents"}};
constexpr Example kExamples[] = {
    {"tare formats --layouts", "how tensors can be stored, and by which methods"},
    {"tare formats --json | jq -r '.formats[] | select(.writes).name'", "what can be written"}};

}  // namespace

constexpr Verb kVerb{
    .name = "formats",
    .summary = "the containers and what each can hold",
    .description =
        "Lists the containers: name, suffixes, versions (where the line has room), and whether Tare reads (r) and "
        "writes (w) each. With FORMAT, "
        "shows what that one can hold: types and layouts of tensors, metadata (under any key, or a few of its own), "
        "and besides tensors the model's configuration, a vocabulary, attached files and attributes; and which options "
        "of convert it honours, whether it can grow in place (append) and be written to a pipe. --json prints all of "
        "it.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::formats_verb
