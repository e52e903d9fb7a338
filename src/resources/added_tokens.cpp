// Tokens that stand beside the vocabulary's own file. Those it has already are not added twice: the files repeat them.
#include <algorithm>
#include <charconv>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "resources/vocabulary_builder.hpp"

namespace tare::resources {
namespace {

using nlohmann::json;

void append(Vocabulary& vocabulary, VocabularyBuilder& later) {
  std::vector<Token> tokens = later.finish(vocabulary.tokens.size());
  std::move(tokens.begin(), tokens.end(), std::back_inserter(vocabulary.tokens));
}

}  // namespace

void add_tokens(Vocabulary& vocabulary, std::string_view added_tokens) {
  VocabularyBuilder later;
  const json root = parse_small_json(added_tokens);
  for (const auto& [text, id] : root.items()) {
    if (!id.is_number_unsigned())
      throw Error(ErrorKind::corrupt, "tokenizer.added", "the id of an added token is no number");
    if (id.get<std::uint64_t>() >= vocabulary.tokens.size())
      later.add(id.get<std::uint64_t>(), {text, 0, TokenType::user_defined});
  }
  append(vocabulary, later);
}

void add_decoder_tokens(Vocabulary& vocabulary, std::string_view tokenizer_config) {
  VocabularyBuilder later;
  const json root = parse_small_json(tokenizer_config);
  const auto decoder = root.find("added_tokens_decoder");
  if (decoder == root.end() || !decoder->is_object()) return;
  for (const auto& [key, token] : decoder->items()) {
    std::uint64_t id = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    const json* const content = token.is_object() && token.contains("content") ? &token["content"] : nullptr;
    if (error != std::errc() || end != key.data() + key.size() || content == nullptr || !content->is_string())
      throw Error(ErrorKind::corrupt, "tokenizer.added", "an added token without its id or content");
    const auto special = token.find("special");
    const bool control = special != token.end() && special->is_boolean() && special->get<bool>();
    if (id >= vocabulary.tokens.size())
      later.add(id, {content->get<std::string>(), 0, control ? TokenType::control : TokenType::user_defined});
  }
  append(vocabulary, later);
}

}  // namespace tare::resources
