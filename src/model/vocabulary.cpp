#include "tare/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/text.hpp"
#include "model/stored_vocabulary.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr std::array<std::string_view, 9> kTypeNames = {"normal", "unknown", "control", "user_defined", "unused",
                                                        "byte",   "bos",     "eos",     "pad"};

Error malformed(std::string_view what) {
  return Error(ErrorKind::corrupt, "vocabulary.malformed", what).about("vocabulary");
}

template <typename T>
const T& need(const Map& map, std::string_view key) {
  const Value* value = map.find(key);
  const T* typed = value == nullptr ? nullptr : value->get<T>();
  if (typed == nullptr) throw malformed("\"" + std::string(key) + "\" is missing or of the wrong kind");
  return *typed;
}

}  // namespace

std::string_view name_of(TokenType type) { return kTypeNames.at(static_cast<std::size_t>(type)); }

std::optional<TokenType> parse_token_type(std::string_view name) {
  const auto found = std::ranges::find(kTypeNames, name);
  if (found == kTypeNames.end()) return std::nullopt;
  return static_cast<TokenType>(found - kTypeNames.begin());
}

namespace {

// Decides by the special ids of the vocabulary: in some containers the type of the token does not show it.
bool is_special(const Vocabulary& vocabulary, std::size_t id, TokenType type) {
  const std::int64_t special = type == TokenType::bos       ? vocabulary.bos
                               : type == TokenType::eos     ? vocabulary.eos
                               : type == TokenType::pad     ? vocabulary.pad
                               : type == TokenType::unknown ? vocabulary.unk
                                                            : -1;
  return special >= 0 && static_cast<std::size_t>(special) == id;
}

}  // namespace

std::vector<std::size_t> find_tokens(const Vocabulary& vocabulary, const TokenQuery& query) {
  std::vector<std::size_t> found;
  for (std::size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const Token& token = vocabulary.tokens[id];
    if (query.text && token.text != *query.text) continue;
    if (query.type && token.type != *query.type && !is_special(vocabulary, id, *query.type)) continue;
    if (token.text.find(query.part) != std::string::npos) found.push_back(id);
  }
  return found;
}

Map Vocabulary::to_map() const {
  List texts, scores, types, merge_list;
  for (const Token& token : tokens) {
    texts.emplace_back(to_bytes(token.text));
    scores.emplace_back(carry_to_f64(token.score));
    types.emplace_back(static_cast<int>(token.type));
  }
  for (const std::string& merge : merges) merge_list.emplace_back(to_bytes(merge));
  Map map;
  map.append("kind", kind);
  map.append("bos", bos);
  map.append("eos", eos);
  map.append("pad", pad);
  map.append("unk", unk);
  map.append("tokens", std::move(texts));
  map.append("scores", std::move(scores));
  map.append("types", std::move(types));
  map.append("merges", std::move(merge_list));
  return map;
}

namespace {

template <typename T>
void append_number(Bytes& to, T number) {
  to.resize(to.size() + sizeof(T));
  store_le(to.data() + to.size() - sizeof(T), number);
}

void append_packed(Bytes& to, std::string_view text) {
  append_number(to, std::uint64_t{text.size()});
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// The byte string of a packed part; null if the part is a list.
const Bytes* packed_part(const Map& map, std::string_view key) {
  const Value* const value = map.find(key);
  return value == nullptr ? nullptr : value->get<Bytes>();
}

std::vector<std::string> texts_of(const Map& map, std::string_view key) {
  std::vector<std::string> texts;
  const Bytes* const packed = packed_part(map, key);
  if (packed == nullptr) {
    for (const Value& value : need<List>(map, key)) {
      const auto* const bytes = value.get<Bytes>();
      if (bytes == nullptr) throw malformed("a token or merge is not a byte string");
      texts.emplace_back(as_text(*bytes));
    }
    return texts;
  }
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  for (std::span<const std::byte> left = *packed; !left.empty();) {
    if (left.size() < kLength || load_le<std::uint64_t>(left.data()) > left.size() - kLength)
      throw malformed("a token or merge is longer than the bytes left");
    const auto length = load_le<std::uint64_t>(left.data());
    texts.emplace_back(as_text(left.subspan(kLength, length)));
    left = left.subspan(kLength + length);
  }
  return texts;
}

std::vector<float> scores_of(const Map& map) {
  std::vector<float> scores;
  if (const Bytes* const packed = packed_part(map, "scores")) {
    if (packed->size() % sizeof(float) != 0) throw malformed("the scores end within a number");
    for (std::size_t at = 0; at < packed->size(); at += sizeof(float))
      scores.push_back(std::bit_cast<float>(load_le<std::uint32_t>(packed->data() + at)));
    return scores;
  }
  for (const Value& value : need<List>(map, "scores")) {
    const auto* const score = value.get<double>();
    if (score == nullptr) throw malformed("a score or type is out of range");
    scores.push_back(carry_to_f32(*score));
  }
  return scores;
}

std::vector<TokenType> types_of(const Map& map) {
  std::vector<TokenType> types;
  const auto add = [&](std::int64_t number) {
    if (number < 0 || number >= static_cast<std::int64_t>(kTypeNames.size()))
      throw malformed("a score or type is out of range");
    types.push_back(static_cast<TokenType>(number));
  };
  if (const Bytes* const packed = packed_part(map, "types"))
    for (const std::byte byte : *packed) add(std::to_integer<std::int64_t>(byte));
  else
    for (const Value& value : need<List>(map, "types")) {
      const auto* const number = value.get<std::int64_t>();
      add(number == nullptr ? -1 : *number);
    }
  return types;
}

}  // namespace

Map stored_map(const Vocabulary& vocabulary) {
  constexpr std::size_t kMostListed = 1024;  // tokens and merges
  if (vocabulary.tokens.size() + vocabulary.merges.size() <= kMostListed) return vocabulary.to_map();
  Bytes texts, scores, types, merges;
  for (const Token& token : vocabulary.tokens) {
    append_packed(texts, token.text);
    append_number(scores, std::bit_cast<std::uint32_t>(token.score));
    types.push_back(static_cast<std::byte>(token.type));
  }
  for (const std::string& merge : vocabulary.merges) append_packed(merges, merge);
  Map map;
  map.append("kind", vocabulary.kind);
  map.append("bos", vocabulary.bos);
  map.append("eos", vocabulary.eos);
  map.append("pad", vocabulary.pad);
  map.append("unk", vocabulary.unk);
  map.append("tokens", std::move(texts));
  map.append("scores", std::move(scores));
  map.append("types", std::move(types));
  map.append("merges", std::move(merges));
  return map;
}

Vocabulary Vocabulary::from_map(const Map& map) {
  Vocabulary vocabulary;
  vocabulary.kind = need<std::string>(map, "kind");
  vocabulary.bos = need<std::int64_t>(map, "bos");
  vocabulary.eos = need<std::int64_t>(map, "eos");
  vocabulary.pad = need<std::int64_t>(map, "pad");
  vocabulary.unk = need<std::int64_t>(map, "unk");
  std::vector<std::string> texts = texts_of(map, "tokens");
  const std::vector<float> scores = scores_of(map);
  const std::vector<TokenType> types = types_of(map);
  if (scores.size() != texts.size() || types.size() != texts.size())
    throw malformed("tokens, scores and types differ in number");
  for (std::size_t i = 0; i < texts.size(); ++i)
    vocabulary.tokens.push_back({std::move(texts[i]), scores[i], types[i]});
  vocabulary.merges = texts_of(map, "merges");
  return vocabulary;
}

}  // namespace tare
