// vocab: lists the tokens of a model, or describes one.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "cli/json.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"

namespace tare::cli::vocab_verb {
namespace {

Words type_words() {
  Words words;
  for (const TokenType type : kAllTokenTypes) words.emplace_back(name_of(type));
  return words;
}

Error nothing(const std::string& sentence, const std::string& file) {
  return Error(ErrorKind::not_found, "cli.token", sentence).in(file);
}

// Finds tokens with this text, or with this text as the table spells it.
std::vector<std::size_t> with_text(const Vocabulary& vocabulary, const std::string& text) {
  std::vector<std::size_t> ids = find_tokens(vocabulary, {.text = text});
  if (!ids.empty() || text.find('\\') == text.npos) return ids;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id)
    if (escape_name(vocabulary.tokens[id].text) == text) ids.push_back(id);
  return ids;
}

std::optional<std::size_t> with_id(const Vocabulary& vocabulary, const std::string& text) {
  std::size_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("--id takes a whole number, not '{}'", printable(text)));
  return id < vocabulary.tokens.size() ? std::optional(id) : std::nullopt;
}

// Returns the requested ids; reports those that do not exist.
std::vector<std::size_t> select(const Vocabulary& vocabulary, const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  TokenQuery query;
  query.part = arguments.get("find");
  if (arguments.has("type")) query.type = parse_token_type(arguments.get("type"));
  std::vector<std::size_t> ids = find_tokens(vocabulary, query);
  if (arguments.size() > 1 || arguments.has("id")) {
    std::vector<std::size_t> named;
    for (const std::string& text : arguments.operands().subspan(1)) {
      const std::vector<std::size_t> found = with_text(vocabulary, text);
      if (found.empty()) session.complain(nothing(fmt::format("no token '{}'", text), file));
      named.insert(named.end(), found.begin(), found.end());
    }
    for (const std::string& text : arguments.all("id")) {
      const std::optional<std::size_t> id = with_id(vocabulary, text);
      if (id)
        named.push_back(*id);
      else
        session.complain(
            nothing(fmt::format("no token {}; there are {}", text, count_text(vocabulary.tokens.size())), file));
    }
    std::erase_if(named, [&](std::size_t id) { return !std::ranges::binary_search(ids, id); });
    ids = std::move(named);
  }
  if (ids.empty() && session.code() == kDone) session.complain(nothing("no such token", file));
  return ids;
}

void write_head(JsonWriter& json, const Model& model, const std::string& file) {
  json.open('{').key("file").text(file).key("format").text(model.format).key("vocabulary");
  write_vocabulary(json, model.vocabulary);
}

// Writes a text, or its bytes in hexadecimal if it is not UTF-8.
void write_text(JsonWriter& json, const std::string& text) {
  json.key("text");
  if (is_valid_utf8(text))
    json.text(text);
  else
    json.null().key("bytes").text(to_hex(std::as_bytes(std::span(text))));
}

void print_json(const Model& model, const std::string& file, const std::vector<std::size_t>& ids, Session& session) {
  std::string text;
  JsonWriter json(text);
  write_head(json, model, file);
  json.key("tokens").open('[');
  for (const std::size_t id : ids) {
    const Token& token = model.vocabulary.tokens[id];
    json.line_feed().open('{').key("id").number(std::uint64_t{id});
    write_text(json, token.text);
    json.key("type").text(name_of(token.type)).key("score").real(decimal_double(token.score)).close('}');
    if (text.size() > (std::size_t{1} << 16)) {
      session.print(text);
      text.clear();
    }
  }
  json.close(']').close('}');
  session.line(text);
}

// In quotes, because spaces at the ends of a token are part of it.
std::string quoted_token(const std::string& text) { return fmt::format("\"{}\"", escape_name(text)); }

void print_table(const Vocabulary& vocabulary, const std::vector<std::size_t>& ids, Session& session) {
  const bool scored = std::ranges::any_of(vocabulary.tokens, [](const Token& token) { return token.score != 0; });
  Table table({{"ID", Align::right}, {"TYPE"}, {"SCORE", Align::right}, {"TEXT", Align::left, true}});
  for (const std::size_t id : ids) {
    const Token& token = vocabulary.tokens[id];
    table.add({fmt::format("{}", id), Cell(name_of(token.type), Style::cyan),
               scored ? float_text(decimal_double(token.score)) : std::string(), quoted_token(token.text)});
  }
  table.print(session);
}

void print_merges(const Model& model, const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const std::vector<std::string>& merges = model.vocabulary.merges;
  const std::string part = arguments.get("find");
  const auto is_meant = [&](const std::string& merge) { return merge.find(part) != merge.npos; };
  if (std::ranges::none_of(merges, is_meant))
    throw Error(ErrorKind::not_found, "cli.token", merges.empty() ? "the vocabulary has no merges" : "no such merge")
        .in(file);
  if (arguments.has("json")) {
    std::string text;
    JsonWriter json(text);
    write_head(json, model, file);
    json.key("merges").open('[');
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
      if (!is_meant(merges[rank])) continue;
      json.line_feed().open('{').key("rank").number(std::uint64_t{rank});
      write_text(json, merges[rank]);
      json.close('}');
    }
    json.close(']').close('}');
    return session.line(text);
  }
  Table table({{"RANK", Align::right}, {"MERGE", Align::left, true}});
  for (std::size_t rank = 0; rank < merges.size(); ++rank)
    if (is_meant(merges[rank])) table.add({fmt::format("{}", rank), escape_name(merges[rank])});
  table.print(session);
}

int run(const Arguments& arguments, Session& session) {
  const std::string& file = arguments.operand(0);
  const bool merges = arguments.has("merges");
  if (merges && (arguments.size() > 1 || arguments.has("id") || arguments.has("type")))
    throw UsageError("--merges lists merges; of the others it takes --find only");
  const Model model = open(file, listing_options(arguments));
  const Vocabulary& vocabulary = model.vocabulary;
  if (vocabulary.empty()) throw Error(ErrorKind::not_found, "cli.vocabulary", "the model has no vocabulary").in(file);
  if (session.screen().terminal && !arguments.has("json"))
    session.line(session.paint(Style::bold, printable(summary_of(vocabulary))));
  if (merges) {
    print_merges(model, arguments, session);
    return kDone;
  }
  const std::vector<std::size_t> ids = select(vocabulary, arguments, session);
  if (arguments.has("json"))
    print_json(model, file, ids, session);
  else
    print_table(vocabulary, ids, session);
  return session.code();
}

constexpr Operand kOperands[] = {kFile, {.name = "TEXT", .required = false, .many = true}};
constexpr Option kOptions[] = {
    {.name = "id", .value = "N", .help = "the token with this id; may be given several times", .repeatable = true},
    {.name = "find", .value = "SUBSTRING", .help = "only tokens (with --merges: merges) that contain this text"},
    {.name = "type", .value = "TYPE", .help = "only tokens of this type", .words = type_words},
    {.name = "merges", .help = "list the merges of a byte-pair tokenizer instead, by rank"},
    kJson,
    kNoMmap,
    kMaxExpansion,
};
constexpr Example kExamples[] = {
    {"tare vocab model.gguf | head", "the first tokens"},
    {"tare vocab model.gguf '<|im_end|>'", "is there such a token, and what is its id?"},
    {"tare vocab model.gguf --id 2 --id 151645", "which tokens are these?"},
    {"tare vocab model/ --type control", "control tokens only"},
};

}  // namespace

constexpr Verb kVerb{.name = "vocab",
                     .summary = "list the tokens, look one up",
                     .description =
                         "Lists the vocabulary of FILE, a model file or a model directory: id, type, "
                         "score if there are any, "
                         "and text, in quotes and escaped. With TEXTs, only the tokens that are exactly this text, as "
                         "bytes or as the list "
                         "spells it. On a terminal, a line with the special ids comes first.\n\n"
                         "If a text or an id does not exist, or nothing is found, the exit code is 1.",
                     .operands = kOperands,
                     .options = kOptions,
                     .examples = kExamples,
                     .run = run};

}  // namespace tare::cli::vocab_verb
