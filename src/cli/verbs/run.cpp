// run: generates text or tokens with a Tiny Llama.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/json_stream.hpp"
#include "cli/options.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"
#include "cli/verbs.hpp"
#include "formats/format.hpp"
#include "tiny_llama/model.hpp"
#include "tiny_llama/tokenizer.hpp"

namespace tare::cli::run_verb {
namespace {

using tiny_llama::BytePairTokenizer;
using tiny_llama::TinyLlamaModel;
using Tokens = std::vector<std::int32_t>;

template <typename Number>
Number parse_number(std::string_view option, std::string_view text, std::string_view what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("--{} takes {}, not '{}'", option, what, printable(text)));
  return value;
}

Tokens token_list(const Arguments& arguments, std::string_view option) {
  Tokens tokens;
  const std::string list = arguments.get(option);
  for (std::size_t at = 0; !list.empty() && at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    tokens.push_back(parse_number<std::int32_t>(option, std::string_view(list).substr(at, comma - at),
                                                "token numbers separated by commas"));
    at = comma + 1;
  }
  return tokens;
}

tiny_llama::Sampling sampling(const Arguments& arguments) {
  tiny_llama::Sampling result;
  if (arguments.has("temperature"))
    result.temperature = parse_number<float>("temperature", arguments.get("temperature"), "a number");
  if (arguments.has("top-p")) result.top_p = parse_number<float>("top-p", arguments.get("top-p"), "a number");
  result.top_k = static_cast<std::uint32_t>(arguments.number("top-k", 0, 0, 1L << 30));
  if (arguments.has("seed")) result.seed = parse_number<std::uint64_t>("seed", arguments.get("seed"), "a whole number");
  if (result.temperature == 0 && (arguments.has("top-k") || arguments.has("top-p") || arguments.has("seed")))
    throw UsageError("--top-k, --top-p and --seed need --temperature; without it the most likely token is taken");
  return result;
}

// Refuses options that have no effect with --logits: an option without effect misleads.
void refuse_idle_options(const Arguments& arguments) {
  if (!arguments.has("logits")) return;
  for (const std::string_view option : {"count", "stop", "temperature", "top-k", "top-p", "seed"})
    if (arguments.has(option))
      throw UsageError(fmt::format("--{} has no effect with --logits, which generates no tokens", option));
}

void check_stops(const Tokens& stops, std::int32_t vocab_size) {
  for (const std::int32_t token : stops)
    if (token < 0 || token >= vocab_size)
      throw UsageError(fmt::format("--stop {}: the model's tokens are 0 to {}", token, vocab_size - 1));
}

// Warns if the vocabularies differ, because they often come from different files.
void compare_vocabularies(const BytePairTokenizer& tokenizer, const TinyLlamaModel& model, Session& session) {
  const auto known = static_cast<std::size_t>(model.config().vocab_size);
  if (tokenizer.size() != known)
    session.remark(fmt::format("warning: the vocabulary has {} tokens, the model {}; do they belong together?",
                               tokenizer.size(), known));
}

Words tokenizer_rules() { return {"strict", "upstream"}; }

tiny_llama::Rules rules_for(const Arguments& arguments) {
  using tiny_llama::Rules;
  if (!arguments.has("tokenizer")) return Rules::either;
  return arguments.get("tokenizer") == "upstream" ? Rules::upstream : Rules::strict;
}

BytePairTokenizer tokenizer_of_files(const Arguments& arguments, Session& session) {
  BytePairTokenizer tokenizer =
      BytePairTokenizer::from_files(arguments.get("vocab"), arguments.get("merges"), rules_for(arguments));
  if (!tokenizer.complaint().empty())
    session.remark(fmt::format("warning: {}; read as Tiny Llama's own program does (--tokenizer upstream)",
                               tokenizer.complaint()));
  return tokenizer;
}

// Returns the tokenizer: from the files given, else from the vocabulary in the model's file, else none.
std::optional<BytePairTokenizer> tokenizer_for(const Arguments& arguments, const Model& model, Session& session) {
  if (arguments.has("vocab") != arguments.has("merges")) throw UsageError("--vocab and --merges need each other");
  if (arguments.has("tokenizer") && !arguments.has("vocab"))
    throw UsageError("--tokenizer is about --vocab and --merges; give those too");
  if (arguments.has("vocab")) return tokenizer_of_files(arguments, session);
  if (!model.vocabulary.tokens.empty() && arguments.has("prompt"))
    return BytePairTokenizer::from_vocabulary(model.vocabulary);
  return std::nullopt;
}

// A model may have more tokens than the vocabulary names.
std::string text_of(std::int32_t token, const BytePairTokenizer& tokenizer) {
  const bool named = static_cast<std::size_t>(token) < tokenizer.size();
  return named ? std::string(tokenizer.text_of(token)) : fmt::format("<{}>", token);
}

// Prints text as it is generated. A terminal gets whole characters, and no control sequences.
class Stream {
 public:
  Stream(Session& session, const std::optional<BytePairTokenizer>& tokenizer)
      : session_(session), tokenizer_(tokenizer) {}

  void put(std::int32_t token) {
    if (!tokenizer_) {
      session_.line(fmt::to_string(token));
    } else {
      waiting_ += text_of(token, *tokenizer_);
      print(whole_characters());
    }
    session_.flush();
  }

  void end() {
    if (!tokenizer_) return;
    print(waiting_.size());
    session_.line();
  }

 private:
  // Returns the bytes of `waiting_` without an incomplete character at its end.
  std::size_t whole_characters() const {
    const std::size_t size = waiting_.size();
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, size); ++back) {
      const auto byte = static_cast<unsigned char>(waiting_[size - back]);
      if ((byte & 0xC0) == 0x80) continue;
      const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
      return length > back ? size - back : size;
    }
    return size;
  }

  void print(std::size_t count) {
    std::string_view text = std::string_view(waiting_).substr(0, count);
    while (session_.screen().terminal && !text.empty()) {
      const std::size_t line = std::min(text.find('\n'), text.size());
      session_.print(printable(text.substr(0, line)));
      if (line < text.size()) session_.line();
      text.remove_prefix(std::min(line + 1, text.size()));
    }
    session_.print(text);
    waiting_.erase(0, count);
  }

  Session& session_;
  const std::optional<BytePairTokenizer>& tokenizer_;
  std::string waiting_;
};

void write_tokens(JsonWriter& json, std::string_view key, const Tokens& tokens) {
  json.key(key).open('[');
  for (const std::int32_t token : tokens) json.number(std::int64_t{token});
  json.close(']');
}

void print_logits(const TinyLlamaModel& model, const Tokens& tokens, const Arguments& arguments, Session& session) {
  const std::vector<float> logits = model.forward(tokens, arguments.threads());
  if (!arguments.has("json")) {
    for (const float logit : logits) session.line(fmt::format("{}", logit));
    return;
  }
  std::string text;
  JsonWriter json(text);
  write_tokens(json.open('{'), "prompt", tokens);
  json.key("logits").open('[');
  for (const float logit : logits) json.real(double{logit});
  json.close(']').close('}');
  session.line(text);
}

// Returns why no more tokens were made: all were, the next one was to be a --stop, or the model has no more positions.
std::string_view reason_of_end(bool stopped, bool complete) {
  return stopped ? "stop" : complete ? "count" : "positions";
}

void print_generated(const Tokens& prompt, const Tokens& made, const std::optional<BytePairTokenizer>& tokenizer,
                     std::string_view end, Session& session) {
  std::string text;
  JsonWriter json(text);
  write_tokens(json.open('{'), "prompt", prompt);
  write_tokens(json, "tokens", made);
  if (tokenizer) {
    std::string words;
    for (const std::int32_t token : made) words += text_of(token, *tokenizer);
    json.key("text").text(words);
  }
  json.key("end").text(end).close('}');
  session.line(text);
}

int run(const Arguments& arguments, Session& session) {
  refuse_idle_options(arguments);
  Tokens tokens = token_list(arguments, "tokens");
  const Tokens stops = token_list(arguments, "stop");
  const auto count = static_cast<std::size_t>(arguments.number("count", 32, 0, 1L << 30));
  tiny_llama::Sampler sampler(sampling(arguments));

  const Model file = open(arguments.operand(0), read_options(arguments));
  file.refuse_broken();
  if (arguments.has("tokens") == arguments.has("prompt")) {
    static_cast<void>(TinyLlamaModel::from(file));  // whether it can be run at all is the first question
    throw UsageError("give the start either as --tokens or as --prompt");
  }
  const std::optional<BytePairTokenizer> tokenizer = tokenizer_for(arguments, file, session);
  if (arguments.has("prompt")) {
    if (!tokenizer) throw UsageError("--prompt needs --vocab and --merges; the file has no vocabulary of its own");
    tokens = tokenizer->encode(arguments.get("prompt"));
  }
  const TinyLlamaModel model = TinyLlamaModel::from(file);
  check_stops(stops, model.config().vocab_size);
  if (tokenizer) compare_vocabularies(*tokenizer, model, session);
  if (arguments.has("logits")) {
    print_logits(model, tokens, arguments, session);
    return kDone;
  }
  const bool as_json = arguments.has("json");
  Stream stream(session, tokenizer);
  Tokens made;
  bool stopped = false;
  const std::size_t generated = model
                                    .generate(
                                        tokens, count, sampler,
                                        [&](std::int32_t token) {
                                          stopped = std::find(stops.begin(), stops.end(), token) != stops.end();
                                          if (stopped) return false;
                                          made.push_back(token);
                                          if (!as_json) stream.put(token);
                                          return true;
                                        },
                                        arguments.threads())
                                    .size();
  const bool complete = generated == count;
  if (as_json) {
    print_generated(tokens, made, tokenizer, reason_of_end(stopped, complete), session);
    return kDone;
  }
  stream.end();
  if (!stopped && !complete)
    session.remark(
        fmt::format("{} of {} tokens: the model has {} positions", generated, count, model.config().max_seq_length));
  return kDone;
}

constexpr Operand kOperands[] = {kFile};
constexpr Option kOptions[] = {
    {.name = "tokens", .value = "N,N,...", .help = "start with these tokens"},
    {.name = "prompt", .value = "TEXT", .help = "start with this text"},
    {.name = "vocab", .value = "PATH", .help = "the tokens, one per line", .completes = Completes::files},
    {.name = "merges", .value = "PATH", .help = "the pairs to merge, best first", .completes = Completes::files},
    {.name = "tokenizer",
     .value = "RULES",
     .help = "how both are read: strict, or upstream for the ids of Tiny Llama's own program",
     .words = tokenizer_rules},
    {.letter = 'n', .name = "count", .value = "N", .help = "generate N tokens; 32 by default"},
    {.name = "stop", .value = "N,N,...", .help = "stop before any of these tokens"},
    {.name = "temperature", .value = "T", .help = "sample at this temperature; 0, the default, takes the most likely"},
    {.name = "top-k", .value = "K", .help = "sample from the K most likely tokens"},
    {.name = "top-p", .value = "P", .help = "sample from the most likely tokens that together reach P"},
    {.name = "seed", .value = "N", .help = "the seed of the random numbers; 0 by default"},
    {.name = "logits", .help = "print the logits after the last token instead, one per line"},
    kJson,
    kNoMmap,
    kMaxExpansion,
    kThreads,
};
constexpr Example kExamples[] = {
    {"tare run model.bin --tokens 1,2,3", "the 32 tokens that follow, one per line"},
    {"tare run model.zt --prompt 'Once upon' --vocab vocab.txt --merges merges.txt --temperature 0.8", "a story"},
};

}  // namespace

constexpr Verb kVerb{
    .name = "run",
    .summary = "generate text with a Tiny Llama",
    .description =
        "Runs the model in FILE, a Tiny Llama weight file or any container that holds its tensors, and prints what "
        "follows the start, as it is generated: token numbers, or text if the tokens are known by --vocab and "
        "--merges or by the file itself. The weights are used in place, in the mapped file.\n\n"
        "The same file, start and seed give the same output on the same machine, with any number of threads.",
    .operands = kOperands,
    .options = kOptions,
    .examples = kExamples,
    .run = run};

}  // namespace tare::cli::run_verb
