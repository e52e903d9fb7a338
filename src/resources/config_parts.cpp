#include "resources/config_parts.hpp"

#include <algorithm>

#include "arch/defaults.hpp"
#include "arch/model_types.hpp"

namespace tare::resources {
namespace {

std::string_view type_of(const Map& object) {
  const std::string* const type = get<std::string>(object, "model_type");
  return type == nullptr ? std::string_view() : *type;
}

}  // namespace

std::vector<const Map*> language_parts(const Map& config) {
  const arch::Parts parts = arch::parts_of(type_of(config));
  for (const std::string_view path : kLanguageParts) {
    const Value* const found = parts == arch::Parts::none ? nullptr : find_path(config, path);
    const Map* const part = found == nullptr ? nullptr : found->get<Map>();
    if (part == nullptr) continue;
    if (parts == arch::Parts::language || !arch::assumed_keys(type_of(*part)).empty()) return {part};
    return {part, &config};
  }
  return {&config};
}

bool is_key_of_top(std::string_view key) {
  constexpr std::string_view kOfTop[] = {"tie_word_embeddings", "architectures", "_name_or_path", "quantization_config",
                                         "quantization"};
  return std::ranges::find(kOfTop, key) != std::end(kOfTop);
}

}  // namespace tare::resources
