#include "tare/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/half.hpp"
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

Bytes to_bytes(std::string_view text) {
  Bytes bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
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

Vocabulary Vocabulary::from_map(const Map& map) {
  const auto text_of = [](const Value& value) {
    const auto* bytes = value.get<Bytes>();
    if (bytes == nullptr) throw malformed("a token or merge is not a byte string");
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  };
  Vocabulary vocabulary;
  vocabulary.kind = need<std::string>(map, "kind");
  vocabulary.bos = need<std::int64_t>(map, "bos");
  vocabulary.eos = need<std::int64_t>(map, "eos");
  vocabulary.pad = need<std::int64_t>(map, "pad");
  vocabulary.unk = need<std::int64_t>(map, "unk");
  const List& texts = need<List>(map, "tokens");
  const List& scores = need<List>(map, "scores");
  const List& types = need<List>(map, "types");
  if (scores.size() != texts.size() || types.size() != texts.size())
    throw malformed("tokens, scores and types differ in number");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto* score = scores[i].get<double>();
    const auto* type = types[i].get<std::int64_t>();
    if (score == nullptr || type == nullptr || *type < 0 || *type >= static_cast<std::int64_t>(kTypeNames.size()))
      throw malformed("a score or type is out of range");
    vocabulary.tokens.push_back({text_of(texts[i]), carry_to_f32(*score), static_cast<TokenType>(*type)});
  }
  for (const Value& merge : need<List>(map, "merges")) vocabulary.merges.push_back(text_of(merge));
  return vocabulary;
}

}  // namespace tare
