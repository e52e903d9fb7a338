// Finds values in config.json.
#pragma once

#include <string_view>
#include <vector>

#include "resources/json_file.hpp"

namespace tare::resources {

// Returns the value of a key, or null; "a.b" is the key b of an object a.
inline const Value* find_path(const Map& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == path.npos) return object.find(path);
  const Map* const inner = get<Map>(object, path.substr(0, dot));
  return inner == nullptr ? nullptr : find_path(*inner, path.substr(dot + 1));
}

// Where multimodal models keep the parameters of the language model.
inline constexpr std::string_view kLanguageParts[] = {"text_config", "llm_config", "language_config",
                                                      "thinker_config.text_config"};

// Returns the objects of config.json with the parameters of the language model; the first value of a key takes
// precedence. In a plain model that is config.json itself, whatever other objects it has. In a multimodal model it is the
// language part, alone if the transformers library reads nothing else, and before config.json itself if that is not
// known.
std::vector<const Map*> language_parts(const Map& config);

// Returns whether a key of a multimodal model is read from config.json itself rather than from its language part.
bool is_key_of_top(std::string_view key);

}  // namespace tare::resources
