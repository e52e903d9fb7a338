// Converts between the tokenizer's keys and a Vocabulary.
//
// A Vocabulary holds bytes; byte-level tokenizers ("gpt2") spell each byte as a character. Merges keep their spelling.
// Word pieces ("bert") are "hello" and "##ing" in a Vocabulary, as in vocab.txt, and U+2581 "hello" and "ing" in a file.
#include "formats/gguf/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/byte_alphabet.hpp"

namespace tare::gguf {
namespace {

constexpr EntryType kText{ValueType::string, false}, kTexts{ValueType::string, true}, kFloats{ValueType::f32, true},
    kInts{ValueType::i32, true}, kU32{ValueType::u32, false};

// Kinds of tokenizers: in a Vocabulary, and in GGUF.
struct Kind {
  std::string_view kind, model;
};
constexpr Kind kKinds[] = {{"spm", "llama"}, {"bpe", "gpt2"}, {"unigram", "t5"}, {"wordpiece", "bert"}};

constexpr std::string_view kVocabularyKeys[] = {kTokenizerModel,
                                                kTokens,
                                                kScores,
                                                kTokenTypes,
                                                kMerges,
                                                kSpecialKeys[0].key,
                                                kSpecialKeys[1].key,
                                                kSpecialKeys[2].key,
                                                kSpecialKeys[3].key};

// GGUF numbers the types from 1. Further types of a Vocabulary become control tokens.
std::int32_t number_of(TokenType type) {
  const auto number = static_cast<std::int32_t>(type);
  return number <= static_cast<std::int32_t>(TokenType::byte) ? number + 1 : number_of(TokenType::control);
}
std::optional<TokenType> token_type(std::int32_t number) {
  if (number < 1 || number > number_of(TokenType::byte)) return std::nullopt;
  return static_cast<TokenType>(number - 1);
}

// Returns whether the token is matched in a text literally.
bool is_plain(const Token& token) {
  return token.type != TokenType::normal && token.type != TokenType::byte && token.type != TokenType::unused;
}

std::vector<bool> plain_tokens(const Model& model) {
  std::vector<bool> plain(model.vocabulary.tokens.size());
  const Value* const kept = model.metadata.find(kPlainTokensKey);
  const List* const ids = kept == nullptr ? nullptr : kept->get<List>();
  if (ids == nullptr) return plain;
  for (const Value& id : *ids)
    if (const auto* const number = id.get<std::int64_t>();
        number != nullptr && *number >= 0 && static_cast<std::size_t>(*number) < plain.size())
      plain[static_cast<std::size_t>(*number)] = true;
  return plain;
}

constexpr std::string_view kInside = "##", kBlank = "\u2581";

// llama.cpp's converter spells all tokens but control tokens.
bool is_piece(const Token& token) {
  return number_of(token.type) != number_of(TokenType::control) && token.type != TokenType::unknown;
}

std::string to_piece_of_file(const std::string& text) {
  return text.starts_with(kInside) ? text.substr(kInside.size()) : std::string(kBlank) + text;
}
std::string from_piece_of_file(const std::string& text) {
  return text.starts_with(kBlank) ? text.substr(kBlank.size()) : std::string(kInside) + text;
}

// Returns whether the pieces are spelled as in vocab.txt. Files of other programs may have them so, and models that were
// read from files by older versions of Tare have the other spelling.
bool are_spelled_inside(const std::vector<Token>& tokens, bool otherwise) {
  bool inside = false, blanks = false;
  for (const Token& token : tokens) {
    if (!is_piece(token)) continue;
    inside = inside || token.text.starts_with(kInside);
    blanks = blanks || token.text.starts_with(kBlank);
  }
  return inside == blanks ? otherwise : inside;
}

// How the texts of tokens are spelled in a file.
class Spelling {
 public:
  explicit Spelling(const Vocabulary& vocabulary)
      : bytes_(vocabulary.kind == "bpe"),
        pieces_(vocabulary.kind == "wordpiece" && are_spelled_inside(vocabulary.tokens, true)) {}

  // `plain`: the spelling of this token is kept.
  std::string in_file(const Token& token, bool plain) const {
    if (plain) return token.text;
    if (bytes_ && !is_plain(token)) return resources::to_byte_alphabet(token.text);
    return pieces_ && is_piece(token) ? to_piece_of_file(token.text) : token.text;
  }

 private:
  bool bytes_, pieces_;
};

// Names the first text that is not UTF-8, and counts the others; empty if there is none.
template <typename TextOf>
std::string not_utf8(std::string_view what, std::size_t count, const TextOf& text_of) {
  std::size_t first = count, all = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (!is_valid_utf8(text_of(i))) first = all++ == 0 ? i : first;
  if (all == 0) return {};
  return fmt::format("{} {}{} not UTF-8: programs that need texts refuse the file", what, first,
                     all == 1 ? " is" : fmt::format(" and {} more are", all - 1));
}

}  // namespace

std::string text_problem(const Model& model) {
  const Vocabulary& vocabulary = model.vocabulary;
  const std::vector<bool> plain = plain_tokens(model);
  const Spelling spelling(vocabulary);
  const std::string tokens = not_utf8("token", vocabulary.tokens.size(),
                                      [&](std::size_t i) { return spelling.in_file(vocabulary.tokens[i], plain[i]); });
  if (!tokens.empty()) return tokens;
  return not_utf8("merge", vocabulary.merges.size(),
                  [&](std::size_t i) -> const std::string& { return vocabulary.merges[i]; });
}

namespace {

// Names the first two tokens of the same text; empty if there are none. llama.cpp gives each token without a text one of
// its own.
template <typename TextOf>
std::string twice(std::size_t count, const TextOf& text_of) {
  NameMap<std::size_t> first;
  first.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string text(text_of(i));
    if (text.empty()) continue;
    if (const auto [found, added] = first.emplace(std::move(text), i); !added)
      return fmt::format("tokens {} and {} have the same text, \"{}\": llama.cpp ends with a failed assertion",
                         found->second, i, quote(found->first));
  }
  return {};
}

}  // namespace

std::string repetition_problem(const Model& model) {
  const std::vector<bool> plain = plain_tokens(model);
  const Spelling spelling(model.vocabulary);
  return twice(model.vocabulary.tokens.size(),
               [&](std::size_t i) { return spelling.in_file(model.vocabulary.tokens[i], plain[i]); });
}

std::string_view kind_of_model(std::string_view model) {
  const auto known = std::ranges::find(kKinds, model, &Kind::model);
  return known == std::end(kKinds) ? std::string_view() : known->kind;
}

std::string_view model_of_kind(std::string_view kind) {
  const auto known = std::ranges::find(kKinds, kind, &Kind::kind);
  return known == std::end(kKinds) ? std::string_view() : known->model;
}

bool is_vocabulary_key(std::string_view key) {
  return std::ranges::find(kVocabularyKeys, key) != std::end(kVocabularyKeys);
}

template <typename T>
T* VocabularyReader::find(std::string_view key, const EntryType& type, std::size_t& number) {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  number = static_cast<std::size_t>(found - entries_.begin());
  if (found->type == type) return std::get_if<T>(&found->payload);
  complaints_.warning(
      "gguf.key.type",
      fmt::format("expected type {}, found {}: programs that need it refuse the file", type.text(), found->type.text()),
      *found);
  return nullptr;
}

std::vector<bool> VocabularyReader::run() {
  taken_.assign(entries_.size(), false);
  take_kind();
  take_tokens();
  take_merges();
  take_ids();
  return std::move(taken_);
}

void VocabularyReader::take_kind() {
  std::size_t number = 0;
  const Value* const model = find<Value>(kTokenizerModel, kText, number);
  if (model == nullptr || model->text() == nullptr) return;  // bytes that are not UTF-8 are not text
  const std::string_view kind = kind_of_model(*model->text());
  if (kind.empty()) return;
  model_.vocabulary.kind = kind;
  taken_[number] = true;
}

void VocabularyReader::take_tokens() {
  std::size_t number = 0;
  auto* const texts = find<std::vector<std::string>>(kTokens, kTexts, number);
  if (texts == nullptr) return;
  complain_of_bytes("token", *texts, number);
  if (complaints_.thorough())
    if (const std::string problem = twice(texts->size(), [&](std::size_t i) { return (*texts)[i]; }); !problem.empty())
      complaints_.warning("gguf.tokenizer.twice", problem, entries_[number]);
  std::vector<Token>& tokens = model_.vocabulary.tokens;
  tokens.resize(texts->size());
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].text = std::move((*texts)[i]);
  taken_[number] = true;
  take_scores();
  take_types();
  if (model_.vocabulary.kind == "bpe") spell_tokens();
  if (model_.vocabulary.kind == "wordpiece") spell_pieces();
}

void VocabularyReader::complain_of_bytes(std::string_view what, const std::vector<std::string>& texts,
                                         std::size_t number) const {
  const std::string problem =
      not_utf8(what, texts.size(), [&](std::size_t i) -> const std::string& { return texts[i]; });
  if (!problem.empty()) complaints_.warning("gguf.tokenizer.utf8", problem, entries_[number]);
}

void VocabularyReader::take_scores() {
  std::size_t number = 0;
  const auto* const scores = find<std::vector<float>>(kScores, kFloats, number);
  if (scores == nullptr) return;
  std::vector<Token>& tokens = model_.vocabulary.tokens;
  if (scores->size() != tokens.size())
    return complaints_.error("gguf.tokenizer.length",
                             fmt::format("{} scores for {} tokens", scores->size(), tokens.size()), entries_[number]);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].score = (*scores)[i];
  taken_[number] = true;
}

void VocabularyReader::take_types() {
  std::size_t number = 0;
  const auto* const types = find<std::vector<std::int32_t>>(kTokenTypes, kInts, number);
  if (types == nullptr) return;
  std::vector<Token>& tokens = model_.vocabulary.tokens;
  if (types->size() != tokens.size())
    return complaints_.error("gguf.tokenizer.length",
                             fmt::format("{} types for {} tokens", types->size(), tokens.size()), entries_[number]);
  const auto odd = std::ranges::find_if(*types, [](std::int32_t type) { return !token_type(type); });
  if (odd != types->end())
    return complaints_.warning(
        "gguf.tokenizer.type",
        fmt::format("the type of token {} is {}; 1 to 6 are defined", odd - types->begin(), *odd), entries_[number]);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].type = *token_type((*types)[i]);
  taken_[number] = true;
}

void VocabularyReader::take_merges() {
  std::size_t number = 0;
  auto* const merges = find<std::vector<std::string>>(kMerges, kTexts, number);
  if (merges == nullptr) return;
  complain_of_bytes("merge", *merges, number);
  model_.vocabulary.merges = std::move(*merges);
  taken_[number] = true;
}

void VocabularyReader::take_ids() {
  for (const auto& [key, id] : kSpecialKeys) {
    std::size_t number = 0;
    const Value* const value = find<Value>(key, kU32, number);
    if (value == nullptr) continue;
    model_.vocabulary.*id = *value->get<std::int64_t>();
    taken_[number] = true;
    if (const std::size_t tokens = model_.vocabulary.tokens.size();
        tokens > 0 && static_cast<std::uint64_t>(model_.vocabulary.*id) >= tokens)
      complaints_.warning("gguf.tokenizer.id", fmt::format("is {}, there are {} tokens", model_.vocabulary.*id, tokens),
                          entries_[number]);
  }
}

// Converts texts from the byte-level alphabet to bytes. A token with another character is kept, and its id recorded.
void VocabularyReader::spell_tokens() {
  List plain;
  std::vector<Token>& tokens = model_.vocabulary.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_plain(tokens[i])) continue;
    if (auto bytes = resources::from_byte_alphabet(tokens[i].text))
      tokens[i].text = std::move(*bytes);
    else
      plain.emplace_back(static_cast<std::int64_t>(i));
  }
  if (!plain.empty()) model_.metadata.append(std::string(kPlainTokensKey), std::move(plain));
}

// Converts word pieces to the spelling of vocab.txt.
void VocabularyReader::spell_pieces() {
  std::vector<Token>& tokens = model_.vocabulary.tokens;
  const bool spelled = are_spelled_inside(tokens, false);
  List plain;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_piece(tokens[i])) continue;
    std::string text = from_piece_of_file(tokens[i].text);
    if (!spelled && to_piece_of_file(text) == tokens[i].text)
      tokens[i].text = std::move(text);
    else
      plain.emplace_back(static_cast<std::int64_t>(i));
  }
  if (!plain.empty()) model_.metadata.append(std::string(kPlainTokensKey), std::move(plain));
}

VocabularyEntries vocabulary_entries(const Model& model, const Map& wanted, bool with_arrays) {
  const Vocabulary& vocabulary = model.vocabulary;
  VocabularyEntries result;
  const auto add = [&](std::string_view key, const EntryType& type, Payload payload) {
    result.entries.push_back({std::string(key), type, std::move(payload)});
  };
  // Returns whether the original file had this array, perhaps empty. (A text under the same key is metadata.)
  const auto is_wanted = [&](std::string_view key) {
    const Value* const type = wanted.find(key);
    return type != nullptr && type->text() != nullptr && type->text()->starts_with('[');
  };

  const auto known = std::ranges::find(kKinds, vocabulary.kind, &Kind::kind);
  if (known != std::end(kKinds))
    add(kTokenizerModel, kText, Value(known->model));
  else if (!vocabulary.kind.empty())
    result.rest.append("kind", vocabulary.kind);

  const std::vector<Token>& tokens = vocabulary.tokens;
  if (!tokens.empty() || is_wanted(kTokens)) {
    const std::size_t count = with_arrays ? tokens.size() : 0;
    const std::vector<bool> plain = with_arrays ? plain_tokens(model) : std::vector<bool>();
    const Spelling spelling(vocabulary);
    std::vector<std::string> texts;
    texts.reserve(count);
    List others;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(spelling.in_file(tokens[i], plain[i]));
      // "##" before the sign for a blank: the file has the text of another token.
      if (texts[i] != tokens[i].text && vocabulary.kind == "wordpiece" &&
          from_piece_of_file(texts[i]) != tokens[i].text)
        others.emplace_back(List{Value(static_cast<std::int64_t>(i)), Value(tokens[i].text)});
    }
    if (!others.empty()) result.rest.append("texts", std::move(others));
    add(kTokens, kTexts, std::move(texts));
  }
  const auto any = [&](const auto& is) { return std::ranges::any_of(tokens, is); };
  if (any([](const Token& token) { return token.score != 0; }) || is_wanted(kScores)) {
    std::vector<float> scores;
    scores.reserve(tokens.size());
    for (const Token& token : tokens) scores.push_back(token.score);
    add(kScores, kFloats, std::move(scores));
  }
  if (any([](const Token& token) { return token.type != TokenType::normal; }) || is_wanted(kTokenTypes)) {
    std::vector<std::int32_t> types;
    types.reserve(tokens.size());
    for (const Token& token : tokens) types.push_back(number_of(token.type));
    add(kTokenTypes, kInts, std::move(types));
  }
  if (any([](const Token& token) { return token.type > TokenType::byte; })) {
    List types;
    for (const Token& token : tokens) types.emplace_back(static_cast<int>(token.type));
    result.rest.append("types", std::move(types));
  }
  if (!vocabulary.merges.empty() || is_wanted(kMerges))
    add(kMerges, kTexts, with_arrays ? vocabulary.merges : std::vector<std::string>());
  for (const auto& [key, id] : kSpecialKeys) {
    const std::int64_t value = vocabulary.*id;
    if (value == -1) continue;
    if (value >= 0 && value <= std::numeric_limits<std::uint32_t>::max())
      add(key, kU32, Value(value));
    else
      result.rest.append(std::string(key), value);
  }
  return result;
}

void take_rest(const Map& rest, Vocabulary& vocabulary) {
  if (const Value* const kind = rest.find("kind"); kind != nullptr && kind->text() != nullptr)
    if (vocabulary.kind.empty()) vocabulary.kind = *kind->text();
  const Value* const kept = rest.find("types");
  const List* const types = kept == nullptr ? nullptr : kept->get<List>();
  if (types != nullptr && types->size() == vocabulary.tokens.size())
    for (std::size_t i = 0; i < types->size(); ++i) {
      const auto* const number = (*types)[i].get<std::int64_t>();
      if (number == nullptr || *number < 0 || *number > static_cast<std::int64_t>(TokenType::pad)) continue;
      const auto type = static_cast<TokenType>(*number);
      // The file's current type takes precedence.
      Token& token = vocabulary.tokens[i];
      if (number_of(type) == number_of(token.type)) token.type = type;
    }
  const Value* const others = rest.find("texts");
  for (const Value& other : others == nullptr || others->get<List>() == nullptr ? List() : *others->get<List>()) {
    const List* const pair = other.get<List>();
    const auto* const id = pair == nullptr || pair->size() != 2 ? nullptr : (*pair)[0].get<std::int64_t>();
    const std::string* const text = id == nullptr ? nullptr : (*pair)[1].text();
    if (text == nullptr || *id < 0 || static_cast<std::uint64_t>(*id) >= vocabulary.tokens.size()) continue;
    std::string& now = vocabulary.tokens[static_cast<std::size_t>(*id)].text;
    if (to_piece_of_file(now) == to_piece_of_file(*text)) now = *text;
  }
  for (const auto& [key, id] : kSpecialKeys)
    if (const Value* const value = rest.find(key); value != nullptr && value->get<std::int64_t>() != nullptr)
      if (vocabulary.*id == -1) vocabulary.*id = *value->get<std::int64_t>();
}

}  // namespace tare::gguf
