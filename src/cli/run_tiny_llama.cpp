#include "cli/run_tiny_llama.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/generating.hpp"
#include "tiny_llama/model.hpp"
#include "tiny_llama/tokenizer.hpp"

namespace tare::cli {
namespace {

using tiny_llama::BytePairTokenizer;
using tiny_llama::TinyLlamaModel;

tiny_llama::Sampling tiny_sampling(const Arguments& arguments) {
  tiny_llama::Sampling result;
  if (arguments.has("temperature"))
    result.temperature = parse_number<float>("temperature", arguments.get("temperature"), "a number");
  if (arguments.has("top-p")) result.top_p = parse_number<float>("top-p", arguments.get("top-p"), "a number");
  result.top_k = static_cast<std::uint32_t>(arguments.number("top-k", 0, 0, 1L << 30));
  if (arguments.has("seed")) result.seed = parse_number<std::uint64_t>("seed", arguments.get("seed"), "a whole number");
  return result;
}

// Warns if the vocabularies differ, because they often come from different files.
void compare_vocabularies(const BytePairTokenizer& tokenizer, const TinyLlamaModel& model, Session& session) {
  const auto known = static_cast<std::size_t>(model.config().vocab_size);
  if (tokenizer.size() != known)
    session.remark(fmt::format("warning: the vocabulary has {} tokens, the model {}; do they belong together?",
                               tokenizer.size(), known));
}

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
std::optional<BytePairTokenizer> tiny_tokenizer(const Arguments& arguments, const Model& model, Session& session) {
  if (arguments.has("vocab") != arguments.has("merges")) throw UsageError("--vocab and --merges need each other");
  if (arguments.has("tokenizer") && !arguments.has("vocab"))
    throw UsageError("--tokenizer is about --vocab and --merges; give those too");
  if (arguments.has("vocab")) return tokenizer_of_files(arguments, session);
  if (!model.vocabulary.tokens.empty() && arguments.has("prompt"))
    return BytePairTokenizer::from_vocabulary(model.vocabulary);
  return std::nullopt;
}

// A model may have more tokens than the vocabulary names.
std::string tiny_text(std::int32_t token, const BytePairTokenizer& tokenizer) {
  const bool named = static_cast<std::size_t>(token) < tokenizer.size();
  return named ? std::string(tokenizer.text_of(token)) : fmt::format("<{}>", token);
}

// Returns why no more tokens were made: all were, the next one was to be a --stop, or the model has no more positions.
std::string_view reason_of_end(bool stopped, bool complete) {
  return stopped ? "stop" : complete ? "count" : "positions";
}

}  // namespace

int run_tiny_llama(const Model& file, const Arguments& arguments, Session& session) {
  constexpr std::string_view kOthers[] = {"min-p", "fast", "chat", "system", "no-chat"};
  refuse_options(arguments, kOthers, "is not for a Tiny Llama");
  Tokens tokens = token_list(arguments, "tokens");
  const Tokens stops = token_list(arguments, "stop");
  const auto count = static_cast<std::size_t>(arguments.number("count", 32, 0, 1L << 30));
  tiny_llama::Sampler sampler(tiny_sampling(arguments));
  if (arguments.has("tokens") == arguments.has("prompt")) {
    static_cast<void>(TinyLlamaModel::from(file));  // whether it can be run at all is the first question
    throw UsageError("give either -p TEXT or --tokens N,N,...");
  }
  const std::optional<BytePairTokenizer> tokenizer = tiny_tokenizer(arguments, file, session);
  if (arguments.has("prompt")) {
    if (!tokenizer) throw UsageError("--prompt needs --vocab and --merges; the file has no vocabulary of its own");
    tokens = tokenizer->encode(arguments.get("prompt"));
  }
  const TinyLlamaModel model = TinyLlamaModel::from(file);
  check_stops(stops, static_cast<std::uint64_t>(model.config().vocab_size));
  if (tokenizer) compare_vocabularies(*tokenizer, model, session);
  if (arguments.has("logits")) {
    print_logits(tokens, model.forward(tokens, arguments.threads()), arguments, session);
    return kDone;
  }
  const bool as_json = arguments.has("json");
  TokenText text;
  if (tokenizer) text = [&](std::int32_t token) { return tiny_text(token, *tokenizer); };
  TokenStream stream(session, text);
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
    print_generated(tokens, made, text, reason_of_end(stopped, complete), session);
    return kDone;
  }
  stream.end();
  if (!stopped && !complete)
    session.remark(
        fmt::format("{} of {} tokens: the model has {} positions", generated, count, model.config().max_seq_length));
  return kDone;
}

}  // namespace tare::cli
