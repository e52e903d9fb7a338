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
  const Json root = parse_small_json(added_tokens);
  for (const auto& [text, id] : root.items()) {
    if (!id.is_number_unsigned())
      throw Error(ErrorKind::corrupt, "tokenizer.added", "the id of an added token is no number");
    added.push_back({id.get<std::uint64_t>(), {text, 0, TokenType::user_defined}});
  }
  return added;
}

std::vector<AddedToken> parse_added_tokens_decoder(std::string_view tokenizer_config) {
  std::vector<AddedToken> added;
  const Json root = parse_small_json(tokenizer_config);
  const auto decoder = root.find("added_tokens_decoder");
  if (decoder == root.end() || !decoder->is_object()) return added;
  for (const auto& [key, token] : decoder->items()) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const Json* const content = token.is_object() && token.contains("content") ? &token["content"] : nullptr;
    if (error != std::errc() || end != key.data() + key.size() || content == nullptr || !content->is_string())
      throw Error(ErrorKind::corrupt, "tokenizer.added", "an added token without its id or content");
    const auto special = token.find("special");
    const bool control = special != token.end() && special->is_boolean() && special->get<bool>();
    added.push_back({id, {content->text(), 0, control ? TokenType::control : TokenType::user_defined}});
  }
  return added;
}

void append_added(Vocabulary& vocabulary, std::vector<AddedToken> added) {
  VocabularyBuilder beyond;
  const std::size_t known = vocabulary.tokens.size();
  for (AddedToken& later : added)
    if (later.id >= known) beyond.add(later.id, std::move(later.token));
  std::vector<Token> tokens = beyond.finish(known);
  std::move(tokens.begin(), tokens.end(), std::back_inserter(vocabulary.tokens));
}

}  // namespace tare::resources
