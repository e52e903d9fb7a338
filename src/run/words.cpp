// Texts instead of tokens: perplexity() and compare() with the models' own tokenizers.
#include "run/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/endian.hpp"
#include "base/printable.hpp"
#include "tare/digest.hpp"
#include "tare/run.hpp"

namespace tare::run {

std::vector<std::int32_t> tokens_of_text(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> tokens = tokenizer.before();
  const std::vector<std::int32_t> own = tokenizer.encode(text, {.frame = false});
  if (own.empty()) return {};
  tokens.insert(tokens.end(), own.begin(), own.end());
  return tokens;
}

Options options_for(const Tokenizer& tokenizer, Options options) {
  const std::vector<std::int32_t> before = tokenizer.before();
  if (!options.begin && before.size() == 1) options.begin = before.front();
  return options;
}

const Tokenizer* tokenizer_if_any(const Scorer& scorer) {
  try {
    return &scorer.tokenizer();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::unsupported) throw;
    return nullptr;
  }
}

std::string digest_of_text(std::string_view text) {
  Hasher hasher(DigestAlgorithm::xxh3_128);
  hasher.update(text);
  return hasher.finish().text();
}

std::string digest_of_tokens(std::span<const std::int32_t> tokens) {
  Bytes bytes(tokens.size() * sizeof(std::int32_t));
  for (std::size_t i = 0; i < tokens.size(); ++i) store_le(bytes.data() + i * sizeof(std::int32_t), tokens[i]);
  Hasher hasher(DigestAlgorithm::xxh3_128);
  hasher.update(bytes);
  return hasher.finish().text();
}

namespace {

// The token at a place, for a message; "none" if this tokenizer made fewer tokens of the text.
std::string token_text(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens, std::size_t at) {
  if (at >= tokens.size()) return "none";
  return fmt::format("{} \"{}\"", tokens[at], quote(tokenizer.piece(tokens[at])));
}

void require_same_tokens(const Tokenizer& a, const Tokenizer& b, std::string_view text,
                         std::span<const std::int32_t> tokens) {
  const std::vector<std::int32_t> others = tokens_of_text(b, text);
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(tokens, others).in1 - tokens.begin());
  if (at == tokens.size() && at == others.size()) return;
  const std::string before = a.decode(tokens.first(at), false);
  throw Error(
      ErrorKind::usage, "run.tokenizers",
      fmt::format("the tokenizers of the two models differ after {} bytes of the text, at token {}: A has {}, B "
                  "{}; they can be compared on given tokens only",
                  before.size(), at, token_text(a, tokens, at), token_text(b, others, at)));
}

// A token of a text with as much before it as a reader needs.
void add_texts(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens, std::vector<Position>& positions) {
  constexpr std::size_t kBefore = 12;
  const auto piece = [&](std::int32_t id) {
    return id < 0 || static_cast<std::size_t>(id) >= tokenizer.size() ? std::string() : tokenizer.piece(id);
  };
  for (Position& one : positions) {
    const auto at = static_cast<std::size_t>(one.token);
    const std::size_t first = at + 1 > kBefore ? at + 1 - kBefore : 0;
    for (std::size_t i = first; i <= at; ++i) one.text += piece(tokens[i]);
    if (at + 1 < tokens.size()) one.next = piece(tokens[at + 1]);
    one.said_a = piece(one.best_a), one.said_b = piece(one.best_b);
  }
}

}  // namespace

Perplexity perplexity(const Scorer& scorer, std::string_view text, const Options& options) {
  const Tokenizer& tokenizer = scorer.tokenizer();
  return perplexity(scorer, tokens_of_text(tokenizer, text), options_for(tokenizer, options));
}

Comparison compare(const Scorer& a, const Scorer& b, std::string_view text, const Options& options) {
  const Tokenizer *const first = tokenizer_if_any(a), *const second = tokenizer_if_any(b);
  const Tokenizer& tokenizer = first != nullptr ? *first : second != nullptr ? *second : a.tokenizer();
  const std::vector<std::int32_t> tokens = tokens_of_text(tokenizer, text);
  if (first != nullptr && second != nullptr) require_same_tokens(*first, *second, text, tokens);
  Comparison found = compare(a, b, tokens, options_for(tokenizer, options));
  add_texts(tokenizer, tokens, found.worst);
  return found;
}

std::string continuation(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens) {
  std::string text;
  for (const std::int32_t& token : tokens) {
    const std::span<const std::int32_t> one(&token, 1);
    if (token < 0 || static_cast<std::size_t>(token) >= tokenizer.size())
      text += fmt::format("<{}>", token);
    else if (tokenizer.decode(one, true) == tokenizer.decode(one, false))  // else it is special
      text += tokenizer.piece(token);
  }
  return text;
}

}  // namespace tare::run
