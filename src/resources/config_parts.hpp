// Finding one's way in config.json.
#pragma once

#include <string_view>

#include "resources/json_file.hpp"

namespace tare::resources {

// What an object has under a key, null when it has nothing; "a.b" is the key b of an object a.
inline const Json* find_path(const Json& object, std::string_view path) {
  const std::size_t dot = path.find('.');
  const auto found = object.find(path.substr(0, dot));
  if (found == object.end()) return nullptr;
  if (dot == path.npos) return &*found;
  return found->is_object() ? find_path(*found, path.substr(dot + 1)) : nullptr;
}

// Where models that see and hear keep the parameters of the language model.
inline constexpr std::string_view kLanguageParts[] = {"text_config", "llm_config", "language_config",
                                                      "thinker_config.text_config"};

// Calls visit(object) with config.json itself and then with its language parts: what comes first counts.
template <typename Visit>
void for_each_part(const Json& config, const Visit& visit) {
  visit(config);
  for (const std::string_view path : kLanguageParts)
    if (const Json* const part = find_path(config, path); part != nullptr && part->is_object()) visit(*part);
}

}  // namespace tare::resources
