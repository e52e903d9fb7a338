// Reading tokenizer.json (models BPE, Unigram, WordPiece and WordLevel) and the older pair vocab.json + merges.txt.
//
// Where the tokens are written in the byte-level alphabet they are turned back into bytes. Merges keep the file's
// spelling: in that alphabet there is no blank, so "left right" can be split without doubt.
#include <fmt/format.h>

#include <algorithm>

#include "base/half.hpp"
#include "base/lookalike.hpp"
#include "resources/big_json.hpp"
#include "resources/byte_alphabet.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "resources/vocabulary_builder.hpp"

namespace tare::resources {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

Error malformed(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

// Whether a pre-tokenizer or decoder, or one in a sequence of them, is "ByteLevel".
bool is_byte_level(const object& root, std::string_view part, std::string_view parts) {
  const auto step = get<object>(root, part);
  if (!step) return false;
  if (get<std::string_view>(*step, "type") == "ByteLevel") return true;
  const auto steps = get<array>(*step, parts);
  if (!steps) return false;
  return std::any_of(steps->begin(), steps->end(), [](const element& inner) {
    const auto one = get<object>(inner);
    return one && get<std::string_view>(*one, "type") == "ByteLevel";
  });
}

std::string as_bytes(std::string_view text, bool byte_level) {
  if (!byte_level) return std::string(text);
  return from_byte_alphabet(text).value_or(std::string(text));
}

// {"token": id, ...}
void read_vocab_map(VocabularyBuilder& tokens, const object& vocab, bool byte_level, bool byte_tokens) {
  for (const auto& [text, value] : vocab) {
    const auto id = get<std::uint64_t>(value);
    if (!id) throw malformed("tokenizer.vocab", fmt::format("the id of the token \"{}\" is not a number", text));
    Token token{as_bytes(text, byte_level), 0, TokenType::normal};
    if (byte_tokens && is_byte_token(token.text)) token.type = TokenType::byte;
    tokens.add_unique(*id, std::move(token));
  }
}

// [["token", score], ...]
void read_vocab_list(VocabularyBuilder& tokens, const array& vocab, bool byte_level, bool byte_tokens) {
  std::uint64_t id = 0;
  for (const element& entry : vocab) {
    const auto pair = get<array>(entry);
    const auto text =
        pair ? get<std::string_view>(pair->at(0).error() == simdjson::SUCCESS ? pair->at(0).value_unsafe() : entry)
             : std::nullopt;
    const auto score = text && pair->size() == 2 ? get<double>(pair->at(1).value_unsafe()) : std::nullopt;
    if (!score) throw malformed("tokenizer.vocab", fmt::format("entry {} is not a token and its score", id));
    Token token{as_bytes(*text, byte_level), f64_to_f32(*score), TokenType::normal};
    if (byte_tokens && is_byte_token(token.text)) token.type = TokenType::byte;
    tokens.add(id++, std::move(token));
  }
}

// "left right", or since 2024 ["left", "right"].
std::vector<std::string> read_merges(const array& list) {
  std::vector<std::string> merges;
  for (const element& entry : list) {
    if (const auto text = get<std::string_view>(entry)) {
      merges.emplace_back(*text);
      continue;
    }
    const auto pair = get<array>(entry);
    std::optional<std::string_view> left, right;
    if (pair && pair->size() == 2) {
      left = get<std::string_view>(pair->at(0).value_unsafe());
      right = get<std::string_view>(pair->at(1).value_unsafe());
    }
    if (!left || !right)
      throw malformed("tokenizer.merges",
                      fmt::format("merge {} is neither a string nor a pair of strings", merges.size()));
    merges.push_back(fmt::format("{} {}", *left, *right));
  }
  return merges;
}

void read_added_tokens(VocabularyBuilder& tokens, const array& added) {
  for (const element& entry : added) {
    const auto token = get<object>(entry);
    const auto id = token ? get<std::uint64_t>(*token, "id") : std::nullopt;
    const auto content = token ? get<std::string_view>(*token, "content") : std::nullopt;
    if (!id || !content) throw malformed("tokenizer.added", "an added token without its id or content");
    const bool special = get<bool>(*token, "special").value_or(false);
    tokens.add(*id, {std::string(*content), 0, special ? TokenType::control : TokenType::user_defined});
  }
}

std::int64_t id_of(const std::vector<Token>& tokens, std::string_view text) {
  const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const Token& token) { return token.text == text; });
  return found == tokens.end() ? -1 : found - tokens.begin();
}

std::string kind_of(const object& model) {
  const auto type = get<std::string_view>(model, "type");
  if (type == "BPE") return "bpe";
  if (type == "Unigram") return "unigram";
  if (type == "WordPiece") return "wordpiece";
  if (type == "WordLevel") return "wordlevel";
  if (type) throw malformed("tokenizer.model", fmt::format("the model type \"{}\" is not known", *type));
  // Files from before the types were written.
  if (get<array>(model, "merges")) return "bpe";
  return get<array>(model, "vocab") ? "unigram" : "wordpiece";
}

}  // namespace

Vocabulary parse_tokenizer_json(std::string_view text, bool padded) {
  const BigJson json(text, padded);
  const object& root = json.root();
  const auto model = get<object>(root, "model");
  if (!model) throw malformed("tokenizer.model", "no object \"model\": not a tokenizer.json");
  const bool byte_level =
      is_byte_level(root, "pre_tokenizer", "pretokenizers") || is_byte_level(root, "decoder", "decoders");
  const bool byte_tokens = get<bool>(*model, "byte_fallback").value_or(false);

  Vocabulary vocabulary;
  vocabulary.kind = kind_of(*model);
  const auto map = get<object>(*model, "vocab");
  const auto list = get<array>(*model, "vocab");
  if (!map && !list) throw malformed("tokenizer.vocab", "the model has no \"vocab\"");
  const auto added = get<array>(root, "added_tokens");
  VocabularyBuilder tokens((map ? map->size() : list->size()) + (added ? added->size() : 0));
  if (map)
    read_vocab_map(tokens, *map, byte_level, byte_tokens);
  else
    read_vocab_list(tokens, *list, byte_level, byte_tokens);
  if (const auto merges = get<array>(*model, "merges")) vocabulary.merges = read_merges(*merges);
  if (added) read_added_tokens(tokens, *added);
  vocabulary.tokens = tokens.finish();

  if (const auto unk = get<std::uint64_t>(*model, "unk_id"); unk && *unk < vocabulary.tokens.size())
    vocabulary.unk = static_cast<std::int64_t>(*unk);
  else if (const auto name = get<std::string_view>(*model, "unk_token"))
    vocabulary.unk = id_of(vocabulary.tokens, *name);
  if (vocabulary.unk >= 0) vocabulary.tokens[static_cast<std::size_t>(vocabulary.unk)].type = TokenType::unknown;
  return vocabulary;
}

bool frames_texts(std::string_view tokenizer_json) {
  const BigJson json(tokenizer_json);
  const auto step = get<object>(json.root(), "post_processor");
  if (!step) return false;
  // ByteLevel only trims offsets; a sequence is one of several.
  const auto frames = [](const object& one) { return get<std::string_view>(one, "type") != "ByteLevel"; };
  const auto steps = get<array>(*step, "processors");
  if (!steps) return frames(*step);
  return std::any_of(steps->begin(), steps->end(), [&](const element& inner) {
    const auto one = get<object>(inner);
    return one && frames(*one);
  });
}

Vocabulary parse_vocab_json(std::string_view text, bool has_merges) {
  const BigJson json(text);
  Vocabulary vocabulary;
  vocabulary.kind = has_merges ? "bpe" : "wordlevel";
  VocabularyBuilder tokens(json.root().size());
  read_vocab_map(tokens, json.root(), has_merges, false);
  vocabulary.tokens = tokens.finish();
  return vocabulary;
}

std::vector<std::string> parse_merges(std::string_view text) {
  if (const std::string_view known = lookalike(text); !known.empty() && !text.empty())
    throw malformed("tokenizer.merges", known);
  std::vector<std::string> merges;
  for (bool first = true; !text.empty(); first = false) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (first && line.starts_with("#version"))) continue;
    if (line.find(' ') == std::string_view::npos)
      throw malformed("tokenizer.merges", fmt::format("merge {} is not two parts and a space", merges.size()));
    merges.emplace_back(line);
  }
  return merges;
}

}  // namespace tare::resources
