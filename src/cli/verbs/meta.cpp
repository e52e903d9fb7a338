// meta: prints and changes the metadata of a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "tare/metadata.hpp"

namespace tare::cli::meta_verb {
namespace {

constexpr std::size_t kValueColumns = 60;                         // for a value on a terminal, as in `info`
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 20;  // limit of --set-file

std::string spelled(const Value& value) { return value.text() != nullptr ? *value.text() : to_json(value); }

// Table cells are shortened on a terminal and complete in a pipe.
std::string shown(const Value& value, const Session& session) {
  const std::string text = printable(spelled(value));
  return session.screen().terminal ? elide_end(text, kValueColumns, session.ellipsis()) : text;
}

void write_said(JsonWriter& json, const MetadataEntry& entry) {
  json.key("type").text(entry.type).key("value").raw(to_json(entry.value));
}

void list(const Model& model, const std::string& file, bool as_json, Session& session) {
  const std::vector<MetadataEntry> entries = metadata_entries(model);
  if (as_json) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("file").text(file).key("format").text(model.format).key("version").text(model.version);
    json.key("entries").open('[');
    for (const MetadataEntry& entry : entries) {
      json.line_feed().open('{').key("key").text(entry.key);
      write_said(json, entry);
      json.close('}');
    }
    json.close(']').close('}');
    return session.line(text);
  }
  Table table({{"KEY", Align::left, true}, {"TYPE"}, prose("VALUE")});
  for (const MetadataEntry& entry : entries)
    table.add({printable(escape_name(entry.key)), Cell(entry.type, Style::cyan), shown(entry.value, session)});
  table.print(session);
}

const MetadataEntry& find_entry(const std::vector<MetadataEntry>& entries, const std::string& file,
                                std::string_view key) {
  std::vector<std::string> keys;
  for (const MetadataEntry& entry : entries) {
    keys.push_back(entry.key);
    if (entry.key == key || escape_name(entry.key) == key) return entry;
  }
  const std::size_t equals = key.find('=');
  if (equals != key.npos && equals > 0)
    throw UsageError(fmt::format("a KEY alone is read; did you mean --set {}?", shell_word(key)));
  throw Error(ErrorKind::not_found, "cli.key", there_is_no("key", key, keys, "; `tare meta FILE` lists the keys"))
      .in(file);
}

// Prints a text unchanged, so that it can become a file; anything else as JSON on one line.
void get(const Model& model, const std::string& key, const Arguments& arguments, Session& session) {
  const std::vector<MetadataEntry> entries = metadata_entries(model);
  const MetadataEntry& entry = find_entry(entries, arguments.operand(0), key);
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    json.open('{').key("key").text(entry.key);
    write_said(json, entry);
    json.close('}');
    return session.line(text);
  }
  const Bytes* const bytes = entry.value.get<Bytes>();
  const std::string* const text = entry.value.text();
  if (bytes == nullptr && text == nullptr) return session.line(printable_json(to_json(entry.value)));
  OutputTarget target(arguments, session, bytes != nullptr);
  target.sink().write(text != nullptr ? std::as_bytes(std::span(*text)) : std::span<const std::byte>(*bytes));
  target.commit();
  if (session.screen().terminal && text != nullptr && !text->ends_with('\n')) session.line();
}

// ---- changes ----

// Splits "KEY=REST" of one of the options.
std::pair<std::string, std::string> pair_of(std::string_view option, std::string_view form, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || (equals + 1 == text.size() && option != "set"))
    throw UsageError(fmt::format("--{} takes {}, not '{}'", option, form, printable(text)));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string text_in(const std::string& path) {
  const SourcePtr source = open_file(path, Access::pread);
  if (source->size() > kMaxFileBytes)
    throw Error(ErrorKind::limit, "cli.meta.file",
                fmt::format("{} bytes, at most {} fit a key", source->size(), kMaxFileBytes))
        .in(path);
  std::string text(source->size(), '\0');
  source->read(0, std::as_writable_bytes(std::span(text)));
  source->check();
  if (!is_valid_utf8(text)) throw Error(ErrorKind::unsupported, "cli.meta.file", "is not UTF-8 text").in(path);
  return text;
}

// Returns the edits in the order that the help documents: a renamed key has its new name for the other edits.
std::vector<MetadataEdit> edits_of(const Arguments& arguments) {
  std::vector<MetadataEdit> edits;
  for (const std::string& text : arguments.all("rename")) {
    auto [key, to] = pair_of("rename", "OLD=NEW", text);
    edits.push_back({.kind = MetadataEditKind::rename, .key = std::move(key), .to = std::move(to)});
  }
  for (const std::string& key : arguments.all("remove"))
    edits.push_back({.kind = MetadataEditKind::remove, .key = key});
  for (const std::string& text : arguments.all("set")) {
    auto [key, value] = pair_of("set", "KEY=VALUE", text);
    edits.push_back({.kind = MetadataEditKind::read, .key = std::move(key), .value = std::move(value)});
  }
  for (const std::string& text : arguments.all("set-file")) {
    auto [key, path] = pair_of("set-file", "KEY=PATH", text);
    edits.push_back({.key = std::move(key), .value = text_in(path)});
  }
  return edits;
}

// Returns both texts with an arrow, or one if they are equal or the other is empty.
std::string both(const std::string& before, const std::string& after) {
  return before == after || before.empty() ? after : after.empty() ? before : fmt::format("{} -> {}", before, after);
}

void print_changes(const std::vector<MetadataChange>& changes, Session& session) {
  Table table({{"KEY", Align::left, true}, {"TYPE"}, prose("BEFORE"), prose("AFTER")});
  for (const auto& [before, after] : changes) {
    const auto part = [](const std::optional<MetadataEntry>& entry, std::string MetadataEntry::*member) {
      return entry ? (*entry).*member : std::string();
    };
    const auto value = [&](const std::optional<MetadataEntry>& entry) {
      return entry ? Cell(shown(entry->value, session)) : Cell("-", Style::dim);
    };
    table.add({both(escape_name(part(before, &MetadataEntry::key)), escape_name(part(after, &MetadataEntry::key))),
               Cell(both(part(before, &MetadataEntry::type), part(after, &MetadataEntry::type)), Style::cyan),
               value(before), value(after)});
  }
  table.print(session);
}

void print_json(const Edited& done, const std::string& file, bool dry_run, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("file").text(file).key("dry_run").boolean(dry_run).key("in_place").boolean(done.in_place);
  json.key("file_bytes").number(done.file_bytes).key("omitted").open('[');
  for (const std::string& name : done.omitted) json.text(one_line(name));
  json.close(']').key("changes").open('[');
  const auto side = [&](const std::optional<MetadataEntry>& entry) {
    if (!entry) return json.null(), void();
    json.open('{').key("key").text(entry->key);
    write_said(json, *entry);
    json.close('}');
  };
  for (const auto& [before, after] : done.changes) {
    json.line_feed().open('{').key("before");
    side(before);
    json.key("after");
    side(after);
    json.close('}');
  }
  json.close(']').close('}');
  session.line(text);
}

int edit(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const bool dry_run = arguments.has("dry-run");
  Edited done;
  {
    ProgressBar bar(session, "writing", std::nullopt);
    done = edit_metadata(file, edits_of(arguments),
                         {.read = read_options(arguments),
                          .dry_run = dry_run,
                          .work = {.threads = arguments.threads(), .progress = bar.progress()}});
  }
  if (arguments.has("json")) {
    print_json(done, file, dry_run, session);
    return kDone;
  }
  const std::string keys = counted(done.changes.size(), "key");
  std::string result =
      dry_run ? fmt::format("{} would be changed{}", keys, done.in_place ? " in place" : " by writing a new file")
              : fmt::format("{} changed{}", keys, done.in_place ? " in place" : " in a new file");
  std::string omitted;
  if (!done.omitted.empty())
    omitted = fmt::format("; without {}, which repeated what was changed",
                          escape_name(fmt::format("{}", fmt::join(done.omitted, ", "))));
  if (dry_run) print_changes(done.changes, session);
  if (done.changes.empty())
    session.remark(fmt::format("{}: nothing to change", file));
  else if (dry_run)
    session.line(printable(result + omitted));
  else
    session.remark(fmt::format("{}: {}, {}{}", file, result, size_text(done.file_bytes), omitted));
  return kDone;
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const bool edits =
      arguments.has("set") || arguments.has("set-file") || arguments.has("remove") || arguments.has("rename");
  const bool gets = arguments.size() > 1 || arguments.has("get");
  if (edits && gets) throw UsageError("either a KEY is read or keys are changed, not both");
  if (arguments.size() > 1 && arguments.has("get")) throw UsageError("KEY and --get exclude each other");
  if (arguments.has("dry-run") && !edits)
    throw UsageError("--dry-run needs a change: --set, --set-file, --remove or --rename");
  if (edits) return edit(arguments, session);
  const Model model = open(file, listing_options(arguments));
  if (gets)
    get(model, arguments.size() > 1 ? arguments.operand(1) : arguments.get("get"), arguments, session);
  else
    list(model, file, arguments.has("json"), session);
  return kDone;
}

constexpr Operand kOperands[] = {kFile, {.name = "KEY", .required = false}};
constexpr Option kOptions[] = {
    {.name = "get", .value = "KEY", .help = "print the value of KEY, as the operand does"},
    {.name = "set",
     .value = "KEY=VALUE",
     .help = "set a key; KEY:TYPE=VALUE also says the type; may be given several times",
     .repeatable = true},
    {.name = "set-file",
     .value = "KEY=PATH",
     .help = "set a key to the text of a file; may be given several times",
     .repeatable = true,
     .completes = Completes::files},
    {.name = "remove", .value = "KEY", .help = "remove a key; may be given several times", .repeatable = true},
    {.name = "rename", .value = "OLD=NEW", .help = "rename a key; may be given several times", .repeatable = true},
    {.letter = 'n', .name = "dry-run", .help = "only show what would change, and how it would be written"},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare meta model.gguf", "all keys, with types and values"},
    {"tare meta model.gguf tokenizer.chat_template > t.jinja", "one value; strings as they are"},
    {"tare meta model.gguf --set-file tokenizer.chat_template=t.jinja", "and back"},
    {"tare meta model.gguf --set llama.context_length=32768 --dry-run", "what would change, and how"},
    {"tare meta model.gguf --set my.ids:[i32]=[1,2]", "a new key of a certain type"},
    {"tare meta model.zt --rename author=general.author --remove note", "works for every container with metadata"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "meta",
    .summary = "list and change metadata",
    .description =
        "Lists the metadata of FILE: keys, types and values in the order of the file; on a terminal, long values are "
        "shortened. If the container has keys for hyper-parameters and tokenizer, they are among them. The type "
        "\"private\" "
        "marks keys that other programs do not find, because the container has no type for their values. With a KEY, "
        "prints "
        "its value: a text as it is, anything else as JSON.\n\n"
        "--rename, --remove, --set and --set-file change FILE itself, in this order, all of them or none. VALUE is "
        "JSON, or "
        "else a text. A key that exists keeps its type; a value that does not fit it is refused, unless KEY:TYPE asks "
        "for "
        "another type. Tensors are neither decoded nor encoded: their bytes and digests stay. If that can be done "
        "without "
        "a moment at which FILE is not whole, a few bytes are changed in place; otherwise a new file takes the place "
        "of "
        "the old one. An error, a kill or a power failure leaves the old file or the new one.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::meta_verb
