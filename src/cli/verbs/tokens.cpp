// tokens: turns texts into tokens, and tokens into text, by the model's own tokenizer.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/json_stream.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "tare/tokenizer.hpp"

namespace tare::cli::tokens_verb {
namespace {

using Ids = std::vector<std::int32_t>;

// "1, 2 3": separated by commas or blanks.
Ids listed_ids(const std::vector<std::string>& lists) {
  Ids ids;
  for (const std::string& list : lists)
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find_first_of(", \n", at), list.size());
      if (end > at) {
        std::int32_t id = 0;
        const auto [stopped, error] = std::from_chars(list.data() + at, list.data() + end, id);
        if (error != std::errc() || stopped != list.data() + end)
          throw UsageError(fmt::format("--decode takes token numbers separated by commas, not '{}'",
                                       printable(list.substr(at, end - at))));
        ids.push_back(id);
      }
      at = end + 1;
    }
  return ids;
}

std::string standard_input() {
  std::string text;
  char piece[1 << 14];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, stdin)) text.append(piece, count);
  if (std::ferror(stdin) != 0) throw Error(ErrorKind::io, "io.source.read", "standard input cannot be read");
  return text;
}

std::string content_of(const std::string& path, Access access) {
  const SourcePtr source = open_file(path, access);
  Bytes bytes(static_cast<std::size_t>(source->size()));
  source->read(0, bytes);
  return std::string(as_text(bytes));
}

std::vector<std::string> texts_to_encode(const Arguments& arguments) {
  std::vector<std::string> texts(arguments.operands().begin() + 1, arguments.operands().end());
  for (const std::string& path : arguments.all("file")) texts.push_back(content_of(path, arguments.access()));
  if (texts.empty()) texts.push_back(standard_input());
  return texts;
}

// A text, or its bytes in hexadecimal if it is not UTF-8.
void write_bytes(JsonWriter& json, const std::string& text) {
  json.key("text");
  if (is_valid_utf8(text))
    json.text(text);
  else
    json.null().key("bytes").text(to_hex(std::as_bytes(std::span(text))));
}

void write_ids(JsonWriter& json, const Ids& ids) {
  json.key("ids").open('[');
  for (const std::int32_t id : ids) json.number(std::int64_t{id});
  json.close(']');
}

void decode(const Tokenizer& tokenizer, const Model& model, const Arguments& arguments, Session& session) {
  const Ids ids = listed_ids(arguments.all("decode"));
  const std::string text = tokenizer.decode(ids);
  if (!arguments.has("json")) {
    const std::string line = text + "\n";
    if (session.screen().terminal) {
      TerminalFilter filter;  // a token may spell a style that this program uses, too
      std::string shown = filter.filter(line);
      session.print(shown += filter.finish());
    } else {
      session.raw().write(std::as_bytes(std::span(line)));
    }
    return;
  }
  std::string out;
  JsonWriter json(out);
  json.open('{').key("file").text(arguments.operand(0)).key("format").text(model.format);
  write_ids(json, ids);
  write_bytes(json, text);
  json.close('}');
  session.line(out);
}

void print_json(const Tokenizer& tokenizer, const Model& model, const std::vector<std::string>& texts,
                const std::vector<Ids>& all, const Arguments& arguments, Session& session) {
  std::string out;
  JsonWriter json(out);
  json.open('{').key("file").text(arguments.operand(0)).key("format").text(model.format).key("texts").open('[');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    write_bytes(json.line_feed().open('{'), texts[i]);
    write_ids(json, all[i]);
    if (arguments.has("pieces")) {
      json.key("pieces").open('[');
      const std::vector<std::string> pieces = tokenizer.pieces(all[i]);
      for (std::size_t k = 0; k < pieces.size(); ++k) {
        write_bytes(json.open('{').key("id").number(std::int64_t{all[i][k]}), pieces[k]);
        json.close('}');
      }
      json.close(']');
    }
    json.close('}');
    session.print(out);
    out.clear();
  }
  json.close(']').close('}');
  session.line(out);
}

void print_pieces(const Tokenizer& tokenizer, const Ids& ids, Session& session) {
  Table table({{"ID", Align::right}, {"PIECE", Align::left, true}, {"BYTES", Align::left, false, true}});
  const std::vector<std::string> pieces = tokenizer.pieces(ids);
  for (std::size_t i = 0; i < ids.size(); ++i)
    table.add({fmt::format("{}", ids[i]), fmt::format("\"{}\"", escape_name(pieces[i])),
               to_hex(std::as_bytes(std::span(pieces[i])))});
  table.print(session);
}

int run(const Arguments& arguments, Session& session) {
  const bool back = arguments.has("decode");
  if (back)
    for (const std::string_view option : {"file", "pieces", "special", "no-bos"})
      if (arguments.has(option)) throw UsageError(fmt::format("--{} has no effect with --decode", option));
  if (back && arguments.size() > 1) throw UsageError("give either texts or --decode");
  const Model model = open(arguments.operand(0), listing_options(arguments));
  const auto tokenizer = [&] {
    try {
      return Tokenizer(model);
    } catch (Error& error) {
      if (error.file().empty()) throw Error(error).in(arguments.operand(0));
      throw;
    }
  }();
  if (back) {
    decode(tokenizer, model, arguments, session);
    return kDone;
  }
  const std::vector<std::string> texts = texts_to_encode(arguments);
  std::vector<Ids> all;
  for (const std::string& text : texts)
    all.push_back(tokenizer.encode(text, {.frame = !arguments.has("no-bos"), .special = arguments.has("special")}));
  if (arguments.has("json")) {
    print_json(tokenizer, model, texts, all, arguments, session);
    return kDone;
  }
  for (const Ids& ids : all) {
    if (arguments.has("pieces")) {
      print_pieces(tokenizer, ids, session);
      continue;
    }
    std::string line;
    for (const std::int32_t id : ids) line += fmt::format("{}{}", line.empty() ? "" : " ", id);
    session.line(line);
  }
  return kDone;
}

constexpr Operand kOperands[] = {kFile, {.name = "TEXT", .required = false, .many = true}};
constexpr Option kOptions[] = {
    {.name = "file",
     .value = "PATH",
     .help = "encode the content of this file; may be given several times",
     .repeatable = true,
     .completes = Completes::files},
    {.name = "pieces", .help = "a table of id, text and bytes of each token instead"},
    {.name = "special", .help = "special tokens that appear in a text count as such; without it, as their letters"},
    {.name = "no-bos",
     .help = "without the tokens that the model expects around a text (bos, eos, [CLS] and the like)"},
    {.name = "decode",
     .value = "IDS",
     .help = "print the text of these token numbers, separated by commas or blanks",
     .repeatable = true},
    kJson,
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare tokens model.gguf 'Hello, world'", "the token numbers of a text"},
    {"tare tokens model/ --pieces 'naïve café'", "how it is split, and the bytes of each token"},
    {"tare tokens model.gguf --file chat.jinja | wc -w", "how many tokens has this file?"},
    {"tare tokens model.gguf --decode 40,41", "what do these tokens say?"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "tokens",
    .summary = "turn text into tokens, or tokens into text",
    .description =
        "Encodes each TEXT with the tokenizer of FILE, a model file or a model directory, and prints one line of "
        "token numbers for each. Without TEXTs and files, standard input is one text. The numbers are those "
        "of the tokenizer's own program (tokenizers, SentencePiece, llama.cpp); a tokenizer that Tare does "
        "not follow exactly is refused.\n\n"
        "Bytes that are not UTF-8 are read as U+FFFD, each.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::tokens_verb
