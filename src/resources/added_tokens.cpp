// Tokens that stand beside the vocabulary's own file. Those it has already are not added twice: the files repeat them.
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

void append_added(Vocabulary& vocabulary, std::vector<AddedToken> added) {
  const std::size_t known = vocabulary.tokens.size();
  std::erase_if(added, [&](const AddedToken& token) { return token.id < known; });
  VocabularyBuilder beyond(added.size(), known);
  for (AddedToken& later : added) beyond.add(later.id, std::move(later.token));
  std::vector<Token> tokens = beyond.finish();
  std::move(tokens.begin(), tokens.end(), std::back_inserter(vocabulary.tokens));
}

}  // namespace tare::resources
