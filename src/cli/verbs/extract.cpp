// extract: writes the files that a model carries.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "model/copy_blob.hpp"

namespace tare::cli::extract_verb {
namespace {

void list(const Model& model, bool as_json, Session& session) {
  if (as_json) {
    std::string text;
    JsonWriter json(text);
    write_attachments(json, model);
    session.line(text);
    return;
  }
  Table table({{"NAME", Align::left, true}, {"BYTES", Align::right}});
  for (const Attachment& attachment : model.attachments)
    table.add({printable(escape_name(attachment.name)), count_text(attachment.blob.size())});
  table.print(session);
}

// Returns whether the beginning looks binary, which is useless on a terminal even with control characters removed.
bool looks_binary(const Blob& blob) {
  Bytes head(static_cast<std::size_t>(std::min<std::uint64_t>(4096, blob.size())));
  blob.read(0, head);
  return std::any_of(head.begin(), head.end(), [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return (c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7F;
  });
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const Model model = open(file, read_options(arguments));
  if (arguments.size() == 1) {
    if (arguments.has("output")) throw UsageError("--output needs the NAME of an attachment");
    list(model, arguments.has("json"), session);
    return kDone;
  }
  const Attachment& attachment = find_attachment(model, file, arguments.operand(1));
  OutputTarget target(arguments, session, session.screen().terminal && looks_binary(attachment.blob));
  copy_blob(attachment.blob, target.sink());
  model.check_sources();
  target.commit();
  return kDone;
}

constexpr Operand kOperands[] = {kFile, {.name = "NAME", .required = false}};
constexpr Option kOptions[] = {
    kOutput,
    {.letter = 'f', .name = "force", .help = "replace an existing PATH; write binary data to a terminal"},
    {.name = "json", .help = "list as JSON"},
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare extract model.zt", "the names of the attachments"},
    {"tare extract model.zt config.json | jq .", "one of them"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "extract",
    .summary = "list or write the files carried along",
    .description =
        "Lists the attachments of FILE (config.json, tokenizer.json and the like, carried verbatim), or writes "
        "the one called NAME to standard output or to PATH. On a terminal, characters that could control it are shown "
        "as "
        "\\xNN; --force writes the bytes as they are.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::extract_verb
