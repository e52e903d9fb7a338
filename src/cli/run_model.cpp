#include "cli/run_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "cli/generating.hpp"
#include "cli/token_file.hpp"
#include "tare/chat.hpp"
#include "tare/run.hpp"

namespace tare::cli {
namespace {

constexpr long kUsualCount = 128, kUsualAnswer = 1024;  // tokens

run::Sampling run_sampling(const Arguments& arguments) {
  run::Sampling result;
  const auto take = [&](std::string_view option, float& value) {
    if (arguments.has(option)) value = parse_number<float>(option, arguments.get(option), "a number");
  };
  take("temperature", result.temperature);
  take("top-p", result.top_p);
  take("min-p", result.min_p);
  result.top_k = static_cast<std::uint32_t>(arguments.number("top-k", 0, 0, 1L << 30));
  if (arguments.has("seed")) result.seed = parse_number<std::uint64_t>("seed", arguments.get("seed"), "a whole number");
  static_cast<void>(run::Sampler(result));  // numbers without a meaning are refused before the model is read
  return result;
}

// What the model starts with.
struct Start {
  Tokens tokens;
  bool is_chat = false;  // the text is a conversation, and what follows is an answer
};

// The conversation as the model's template writes it. Nothing if there is no template, and none was asked for.
std::optional<std::string> written_chat(const Model& file, const Arguments& arguments) {
  const bool asked = arguments.has("chat") || arguments.has("system");
  if (arguments.has("no-chat")) return std::nullopt;
  const std::optional<std::string> source = chat::template_of(file);
  if (!source && !asked) return std::nullopt;
  if (!source)
    throw Error(ErrorKind::not_found, "chat.none",
                "the model has no chat template; without --chat and --system the text is continued");
  std::vector<chat::Message> messages;
  if (arguments.has("system")) messages.push_back({"system", arguments.get("system")});
  messages.push_back({"user", arguments.get("prompt")});
  try {
    return chat::Template(*source).render(chat::conversation(file, messages));
  } catch (const Error& error) {
    throw error.reworded(fmt::format("{}; --no-chat continues the text without it", error.sentence()));
  }
}

Start start_of(const Model& file, const run::Scorer& scorer, const Arguments& arguments) {
  if (arguments.has("tokens") == arguments.has("prompt")) throw UsageError("give either -p TEXT or --tokens N,N,...");
  if (arguments.has("tokens")) return {token_list(arguments, "tokens")};
  const Tokenizer& tokenizer = scorer.tokenizer();
  // A template writes the token that begins a text itself, if there is to be one.
  if (const auto text = written_chat(file, arguments))
    return {tokenizer.encode(*text, {.frame = false, .special = true}), true};
  Start start{tokenizer.before()};
  const Tokens own = tokenizer.encode(arguments.get("prompt"), {.frame = false});
  start.tokens.insert(start.tokens.end(), own.begin(), own.end());
  return start;
}

void check_chat_options(const Arguments& arguments) {
  constexpr std::string_view kChat[] = {"chat", "system", "no-chat"};
  if (arguments.has("tokens")) refuse_options(arguments, kChat, "needs a text: give --prompt, not --tokens");
  if (arguments.has("no-chat")) refuse_options(arguments, std::span(kChat).first(2), "contradicts --no-chat");
}

}  // namespace

int run_model(const Model& file, const Arguments& arguments, Session& session) {
  constexpr std::string_view kOthers[] = {"vocab", "merges", "tokenizer"};
  refuse_options(arguments, kOthers, "is for a Tiny Llama; this model has a tokenizer of its own");
  check_chat_options(arguments);
  const Tokens stops = token_list(arguments, "stop");
  run::GenerateOptions options{.sampling = run_sampling(arguments)};
  static_cast<void>(arguments.number("count", 0, 0, 1L << 30));
  const run::SessionOptions how{.quantized = arguments.has("fast"), .work = {.threads = arguments.threads()}};
  const run::Scorer scorer(file);
  warn_of_doubts(scorer, arguments.operand(0), session);
  const Start start = start_of(file, scorer, arguments);
  const Tokens& tokens = start.tokens;
  options.count =
      static_cast<std::uint64_t>(arguments.number("count", start.is_chat ? kUsualAnswer : kUsualCount, 0, 1L << 30));
  check_stops(stops, scorer.vocab_size());
  if (arguments.has("logits")) {
    print_logits(tokens, run::next_logits(scorer, tokens, how), arguments, session);
    return kDone;
  }
  options.stops = scorer.stop_tokens();
  options.stops.insert(options.stops.end(), stops.begin(), stops.end());
  const bool as_json = arguments.has("json");
  TokenText text;
  if (arguments.has("prompt"))
    text = [&tokenizer = scorer.tokenizer()](std::int32_t token) { return run::continuation(tokenizer, {&token, 1}); };
  TokenStream stream(session, text);
  if (!as_json)
    options.on_token = [&](std::int32_t token) {
      stream.put(token);
      return true;
    };
  run::Generated made;
  try {
    made = generate(scorer, tokens, options, how);
  } catch (const Error&) {
    if (!as_json && stream.has_begun()) stream.end();  // the message gets a line of its own
    throw;
  }
  if (as_json) {
    print_generated(tokens, made.tokens, text, name_of(made.end), session);
    return kDone;
  }
  stream.end();
  if (made.end == run::End::positions)
    session.remark(fmt::format("{} of {} tokens: the model has {} positions", made.tokens.size(), options.count,
                               scorer.context()));
  if (made.end == run::End::count && !arguments.has("count"))
    session.remark(fmt::format("ended after {} tokens; --count N allows more", made.tokens.size()));
  return kDone;
}

}  // namespace tare::cli
