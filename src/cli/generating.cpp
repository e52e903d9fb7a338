#include "cli/generating.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_stream.hpp"

namespace tare::cli {
namespace {

// Returns the bytes of the text without an incomplete character at its end.
std::size_t whole_characters(std::string_view text) {
  const std::size_t size = text.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, size); ++back) {
    const auto byte = static_cast<unsigned char>(text[size - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? size - back : size;
  }
  return size;
}

void write_tokens(JsonWriter& json, std::string_view key, const Tokens& tokens) {
  json.key(key).open('[');
  for (const std::int32_t token : tokens) json.number(std::int64_t{token});
  json.close(']');
}

}  // namespace

void refuse_value(std::string_view option, std::string_view value, std::string_view what) {
  throw UsageError(fmt::format("--{} takes {}, not '{}'", option, what, printable(value)));
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

void check_stops(const Tokens& stops, std::uint64_t vocab_size) {
  for (const std::int32_t token : stops)
    if (token < 0 || static_cast<std::uint64_t>(token) >= vocab_size)
      throw UsageError(fmt::format("--stop {}: the model's tokens are 0 to {}", token, vocab_size - 1));
}

void refuse_options(const Arguments& arguments, std::span<const std::string_view> options, std::string_view why) {
  for (const std::string_view option : options)
    if (arguments.has(option)) throw UsageError(fmt::format("--{} {}", option, why));
}

void TokenStream::put(std::int32_t token) {
  begun_ = true;
  if (!text_) {
    session_.line(fmt::to_string(token));
  } else {
    waiting_ += text_(token);
    print(whole_characters(waiting_));
  }
  session_.flush();
}

void TokenStream::end() {
  if (!text_) return;
  print(waiting_.size());
  session_.line();
  session_.flush();
}

void TokenStream::print(std::size_t count) {
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

void print_generated(const Tokens& prompt, const Tokens& made, const TokenText& text, std::string_view end,
                     Session& session) {
  std::string line;
  JsonWriter json(line);
  write_tokens(json.open('{'), "prompt", prompt);
  write_tokens(json, "tokens", made);
  if (text) {
    std::string words;
    for (const std::int32_t token : made) words += text(token);
    json.key("text").text(words);
  }
  json.key("end").text(end).close('}');
  session.line(line);
}

void print_logits(const Tokens& prompt, std::span<const float> logits, const Arguments& arguments, Session& session) {
  if (!arguments.has("json")) {
    for (const float logit : logits) session.line(fmt::format("{}", logit));
    return;
  }
  std::string line;
  JsonWriter json(line);
  write_tokens(json.open('{'), "prompt", prompt);
  json.key("logits").open('[');
  for (const float logit : logits) json.real(double{logit});
  json.close(']').close('}');
  session.line(line);
}

}  // namespace tare::cli
