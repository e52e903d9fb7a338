// tokenizer_config.json beyond the tokens it names: chat template, lengths, how to clean up.
#include <algorithm>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// Said by the vocabulary, or about the file.
constexpr std::string_view kKnown[] = {"bos_token",
                                       "eos_token",
                                       "pad_token",
                                       "unk_token",
                                       "added_tokens_decoder",
                                       "tokenizer_class",
                                       "transformers_version",
                                       "name_or_path"};

// What is null, false or empty leaves things as they are.
bool says_something(const nlohmann::json& value) {
  if (const auto* const text = value.get_ptr<const std::string*>()) return !text->empty();
  return !value.empty() && value != false;  // null is empty
}

}  // namespace

std::vector<std::string> keys_beyond_vocabulary(std::string_view tokenizer_config) {
  std::vector<std::string> keys;
  const nlohmann::json root = parse_small_json(tokenizer_config);
  for (const auto& [key, value] : root.items())
    if (says_something(value) && std::ranges::find(kKnown, key) == std::end(kKnown)) keys.push_back(key);
  return keys;
}

}  // namespace tare::resources
