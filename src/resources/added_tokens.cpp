// Tokens that were added after the training, in files of their own. They also state tokens that the vocabulary already
// has, and then take precedence: fine-tunes give spare tokens a new text, and leave tokenizer.model unchanged.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "resources/vocabulary_builder.hpp"

namespace tare::resources {

std::vector<AddedToken> parse_added_tokens(std::string_view added_tokens) {
  std::vector<AddedToken> added;
  const Map root = parse_small_json(added_tokens);
  for (const Map::Entry* const entry : sorted_entries(root)) {
    const auto id = count_of(entry->second);
    if (!id) throw Error(ErrorKind::corrupt, "tokenizer.added", "the id of an added token is not a number");
    added.push_back({*id, {entry->first, 0, TokenType::user_defined}});
  }
  return added;
}

std::vector<AddedToken> parse_added_tokens_decoder(std::string_view tokenizer_config) {
  std::vector<AddedToken> added;
  const Map root = parse_small_json(tokenizer_config);
  const Map* const decoder = get<Map>(root, "added_tokens_decoder");
  if (decoder == nullptr) return added;
  for (const Map::Entry* const entry : sorted_entries(*decoder)) {
    const std::string& key = entry->first;
    const Map* const token = entry->second.get<Map>();
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const std::string* const content = token == nullptr ? nullptr : get<std::string>(*token, "content");
    if (error != std::errc() || end != key.data() + key.size() || content == nullptr)
      throw Error(ErrorKind::corrupt, "tokenizer.added", "an added token without its id or content");
    const bool* const special = get<bool>(*token, "special");
    const bool control = special != nullptr && *special;
    added.push_back({id, {*content, 0, control ? TokenType::control : TokenType::user_defined}});
  }
  return added;
}

namespace {

// The unknown token keeps its role, and a byte is not looked for as text.
void restate(Token& known, Token added) {
  if (added.text.empty()) return;
  const bool keeps_type =
      known.type == TokenType::unknown || (known.type == TokenType::byte && known.text == added.text);
  known.text = std::move(added.text);
  if (!keeps_type) known.type = added.type;
}

}  // namespace

void append_added(Vocabulary& vocabulary, std::vector<AddedToken> added) {
  const std::size_t known = vocabulary.tokens.size();
  const auto is_known = [&](const AddedToken& token) { return token.id < known; };
  const auto beyond = std::stable_partition(added.begin(), added.end(), is_known);
  VocabularyBuilder later(static_cast<std::size_t>(added.end() - beyond), known);
  for (auto token = beyond; token != added.end(); ++token) later.add(token->id, std::move(token->token));
  std::vector<Token> tokens = later.finish();
  for (auto token = added.begin(); token != beyond; ++token)
    restate(vocabulary.tokens[static_cast<std::size_t>(token->id)], std::move(token->token));
  std::move(tokens.begin(), tokens.end(), std::back_inserter(vocabulary.tokens));
}

}  // namespace tare::resources
