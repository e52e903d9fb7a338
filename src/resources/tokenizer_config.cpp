// The keys of tokenizer_config.json other than those that name tokens: chat template, lengths, how to clean up.
#include <algorithm>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// Keys that the vocabulary covers, or that describe the file.
constexpr std::string_view kKnown[] = {"bos_token",
                                       "eos_token",
                                       "pad_token",
                                       "unk_token",
                                       "added_tokens_decoder",
                                       "tokenizer_class",
                                       "transformers_version",
                                       "name_or_path"};

// Null, false or empty values have no effect.
bool says_something(const Value& value) {
  if (value.text() != nullptr) return !value.text()->empty();
  if (const List* const list = value.get<List>()) return !list->empty();
  if (const Map* const object = value.get<Map>()) return !object->empty();
  return !value.is_null() && value != false;
}

// Lengths, cleaning up after decoding, and loading: the same text still gives the same tokens.
constexpr std::string_view kHarmlessSettings[] = {"model_max_length",
                                                  "clean_up_tokenization_spaces",
                                                  "padding_side",
                                                  "truncation_side",
                                                  "use_default_system_prompt",
                                                  "sp_model_kwargs",
                                                  "model_input_names",
                                                  "auto_map",
                                                  "processor_class",
                                                  "max_length",
                                                  "stride",
                                                  "truncation_strategy",
                                                  "pad_to_multiple_of",
                                                  "special_tokens_map_file",
                                                  "backend",
                                                  "is_local",
                                                  "local_files_only"};

}  // namespace

std::vector<LostKey> keys_beyond_vocabulary(std::string_view tokenizer_config) {
  std::vector<LostKey> keys;
  const Map root = parse_small_json(tokenizer_config);
  for (const Map::Entry* const entry : sorted_entries(root)) {
    const auto& [key, value] = *entry;
    if (says_something(value) && std::ranges::find(kKnown, key) == std::end(kKnown))
      keys.push_back({key, std::ranges::find(kHarmlessSettings, key) == std::end(kHarmlessSettings)});
  }
  return keys;
}

}  // namespace tare::resources
