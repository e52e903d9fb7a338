// Finds values in config.json.
#pragma once

#include <string_view>

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

// Calls visit(object) with config.json itself and then with its language parts. The first value of a key takes
// precedence.
template <typename Visit>
void for_each_part(const Map& config, const Visit& visit) {
  visit(config);
  for (const std::string_view path : kLanguageParts)
    if (const Value* const part = find_path(config, path); part != nullptr && part->get<Map>() != nullptr)
      visit(*part->get<Map>());
}

}  // namespace tare::resources
