// What `run` shares between Tiny Llama and the families: tokens from the command line, text as it is generated, JSON.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "cli/command.hpp"
#include "cli/session.hpp"

namespace tare::cli {

using Tokens = std::vector<std::int32_t>;

[[noreturn]] void refuse_value(std::string_view option, std::string_view value, std::string_view what);

template <typename Number>
Number parse_number(std::string_view option, std::string_view text, std::string_view what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse_value(option, text, what);
  return value;
}

// "1,2,3". Empty if the option was not given.
Tokens token_list(const Arguments& arguments, std::string_view option);
// Throws a UsageError if a token of --stop is none of the model's.
void check_stops(const Tokens& stops, std::uint64_t vocab_size);
// Throws the UsageError "--fast WHY" if one of these options, --fast, was given.
void refuse_options(const Arguments& arguments, std::span<const std::string_view> options, std::string_view why);

// Returns what a token adds to the text, as bytes. Empty: tokens are printed as numbers.
using TokenText = std::function<std::string(std::int32_t)>;

// Prints tokens as they are generated: as numbers, one per line, or as text. Only whole characters are printed, so that
// the output is valid UTF-8 at any moment; a terminal gets no control sequences.
class TokenStream {
 public:
  TokenStream(Session& session, TokenText text) : session_(session), text_(std::move(text)) {}

  void put(std::int32_t token);
  void end();
  bool has_begun() const { return begun_; }

 private:
  void print(std::size_t count);

  Session& session_;
  TokenText text_;
  std::string waiting_;
  bool begun_ = false;
};

// The results as one line of JSON.
void print_generated(const Tokens& prompt, const Tokens& made, const TokenText& text, std::string_view end,
                     Session& session);
// Logits one per line, or as JSON if that was asked for.
void print_logits(const Tokens& prompt, std::span<const float> logits, const Arguments& arguments, Session& session);

}  // namespace tare::cli
