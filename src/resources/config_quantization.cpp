#include "resources/config_quantization.hpp"

#include <algorithm>

#include "resources/json_file.hpp"
#include "wire/json_edit.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kStatingKeys[] = {"quantization_config", "compression_config", "quantization"};
constexpr std::string_view kStatingFiles[] = {"quantize_config.json", "quant_config.json", "hf_quant_config.json"};

bool states_quantization(const wire::JsonMember& member) {
  return std::ranges::find(kStatingKeys, member.key) != std::end(kStatingKeys);
}

}  // namespace

std::optional<UnquantizedConfig> without_quantization(std::string_view config_json) {
  parse_small_json(config_json);
  UnquantizedConfig made;
  std::vector<wire::JsonEdit> edits;
  const auto remove = [&](std::size_t object) {
    const auto members = wire::json_members(config_json, object);
    wire::remove_members(members, states_quantization, edits);
    return members;
  };
  const auto note = [&](const wire::JsonMember& member) {
    if (states_quantization(member)) made.keys.emplace_back(member.key);
  };
  for (const wire::JsonMember& member : remove(config_json.find('{'))) {
    note(member);
    if (member.key == "text_config") std::ranges::for_each(remove(member.value), note);
  }
  if (edits.empty()) return std::nullopt;
  made.text = wire::edited_json(config_json, std::move(edits));
  return made;
}

bool is_quantization_file(std::string_view name) {
  return std::ranges::find(kStatingFiles, name) != std::end(kStatingFiles);
}

}  // namespace tare::resources
