#include "codecs/packs/stated.hpp"

#include <fmt/format.h>

#include "codecs/packs/pack.hpp"

namespace tare::codec::packs {

const std::string* stated_text(const Stated& stated, std::string_view key) {
  const Value* const value = stated.config.find(key);
  return value == nullptr ? nullptr : value->text();
}

std::optional<std::uint64_t> stated_count(const Map& config, std::string_view key) {
  const Value* const value = config.find(key);
  const auto* const number = value == nullptr ? nullptr : value->get<std::int64_t>();
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<std::int64_t> stated_whole(const Map& config, std::string_view key, std::string_view rule) {
  const Value* const value = config.find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const auto* const number = value->get<std::int64_t>();
  if (number == nullptr) refuse(rule, fmt::format("the config states a {} that is not a whole number", key));
  return *number;
}

bool has_exceptions(const Stated& stated) {
  // Keys of GPTQModel and auto-round.
  return stated.config.find("dynamic") != nullptr || stated.config.find("extra_config") != nullptr;
}

std::optional<Map> weights_of_groups(const Map& config) {
  const Value* const value = config.find("config_groups");
  const Map* const groups = value == nullptr ? nullptr : value->get<Map>();
  const Map* found = nullptr;
  if (groups == nullptr) return std::nullopt;
  for (const auto& [name, group] : *groups) {
    const Map* const map = group.get<Map>();
    const Value* const weights = map == nullptr ? nullptr : map->find("weights");
    const Map* const own = weights == nullptr ? nullptr : weights->get<Map>();
    if (own == nullptr || (found != nullptr && !(*found == *own))) return std::nullopt;
    found = own;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

}  // namespace tare::codec::packs
