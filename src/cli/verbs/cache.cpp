// cache: lists and empties the parts of files on servers that are kept on disk.
#include <fmt/format.h>

#include "base/json_stream.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "io/remote/block_cache.hpp"

namespace tare::cli::cache_verb {
namespace {

void print_json(const std::vector<io::remote::CacheEntry>& entries, Session& session) {
  std::string text;
  JsonWriter json(text);
  json.open('{').key("folder").text(io::remote::cache_folder()).key("limit").number(io::remote::cache_limit());
  json.key("files").open('[');
  for (const io::remote::CacheEntry& entry : entries)
    json.open('{')
        .key("name")
        .text(entry.name)
        .key("bytes")
        .number(entry.bytes)
        .key("parts")
        .number(entry.parts)
        .close('}');
  json.close(']').close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  if (arguments.has("empty")) {
    const std::uint64_t bytes = io::remote::empty_cache();
    session.remark(fmt::format("removed {}", size_text(bytes)));
    if (!arguments.has("json")) return kDone;
  }
  const auto entries = io::remote::list_cache();
  if (arguments.has("json")) {
    print_json(entries, session);
    return kDone;
  }
  Table table({{"ADDRESS", Align::left, true}, {"PARTS", Align::right}, {"BYTES", Align::right}});
  std::uint64_t bytes = 0;
  for (const io::remote::CacheEntry& entry : entries) {
    bytes += entry.bytes;
    table.add(
        {printable(entry.name.empty() ? "(unknown)" : entry.name), count_text(entry.parts), count_text(entry.bytes)});
  }
  table.print(session);
  session.remark(fmt::format("{} of {} in {}", size_text(bytes), size_text(io::remote::cache_limit()),
                             io::remote::cache_folder().empty() ? "no folder" : io::remote::cache_folder()));
  return kDone;
}

constexpr Option kOptions[] = {
    {.name = "empty", .help = "remove everything"},
    kJson,
};
constexpr Example kExamples[] = {
    {"tare cache", "what is kept"},
    {"tare cache --empty", "removes it"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "cache",
    .summary = "list or empty the cache of remote files",
    .description =
        "Lists the remote files of which parts are kept on disk, mostly metadata, so that they need not be requested "
        "again. A part belongs to one known content of a file, so it is never out of date.\n\n"
        "The folder is tare/remote in $XDG_CACHE_HOME, or in ~/.cache. It holds at most 2 GiB, or the number of MiB in "
        "TARE_CACHE_SIZE (0: nothing is kept); what was not used for the longest time is removed first.",
    .operands = {},
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::cache_verb
