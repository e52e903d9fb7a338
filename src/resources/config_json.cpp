// config.json and Config. Most families use the names of Config; the table lists the others that are about, and where
// newer files nest what older ones had at the top.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

using nlohmann::json;

struct Alias {
  std::string_view field, key;
};

constexpr Alias kAliases[] = {
    {"hidden_act", "hidden_activation"},
    {"hidden_act", "activation_function"},
    {"hidden_size", "n_embd"},
    {"hidden_size", "d_model"},
    {"hidden_size", "dim"},
    {"intermediate_size", "n_inner"},
    {"intermediate_size", "ffn_dim"},
    {"intermediate_size", "hidden_dim"},
    {"num_hidden_layers", "n_layer"},
    {"num_hidden_layers", "num_layers"},
    {"num_hidden_layers", "n_layers"},
    {"num_attention_heads", "n_head"},
    {"num_attention_heads", "n_heads"},
    {"num_key_value_heads", "num_kv_heads"},
    {"num_key_value_heads", "n_kv_heads"},
    {"max_position_embeddings", "n_positions"},
    {"max_position_embeddings", "max_sequence_length"},
    {"max_position_embeddings", "max_seq_len"},
    {"rope_theta", "rotary_emb_base"},
    {"rms_norm_eps", "norm_eps"},
};

void take(std::optional<std::string>& field, const json& value) {
  if (value.is_string()) field = value.get<std::string>();
}
void take(std::optional<bool>& field, const json& value) {
  if (value.is_boolean()) field = value.get<bool>();
}
void take(std::optional<double>& field, const json& value) {
  if (value.is_number()) field = value.get<double>();
}
void take(std::optional<std::int64_t>& field, const json& value) {
  // An unsigned number beyond int64 is no count of anything.
  if (value.is_number_unsigned()) {
    if (value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}) field = value.get<std::int64_t>();
  } else if (value.is_number_integer()) {
    field = value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::fabs(number) < 0x1p53 && std::trunc(number) == number) field = static_cast<std::int64_t>(number);
  }
}

// Sets what is not set yet.
void take_missing(Config& config, const json& object, std::string_view field_name, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  for (const ConfigField& field : config_fields())
    if (field.name == field_name)
      std::visit(
          [&](auto member) {
            if (!(config.*member)) take(config.*member, *found);
          },
          field.member);
}

// rope_parameters: one set, or one for each kind of layer.
void take_rope(Config& config, const json& object) {
  for (const char* const key : {"rope_parameters", "rope_scaling"}) {
    const auto rope = object.find(key);
    if (rope == object.end() || !rope->is_object()) continue;
    take_missing(config, *rope, "rope_theta", "rope_theta");
    for (const char* const kind : {"full_attention", "global"})
      if (const auto inner = rope->find(kind); inner != rope->end() && inner->is_object())
        take_missing(config, *inner, "rope_theta", "rope_theta");
  }
}

void take_all(Config& config, const json& object) {
  for (const ConfigField& field : config_fields()) take_missing(config, object, field.name, field.name);
  for (const Alias& alias : kAliases) take_missing(config, object, alias.field, alias.key);
  take_rope(config, object);
}

}  // namespace

Config parse_config(std::string_view text) {
  const json root = parse_small_json(text);
  Config config;
  take_all(config, root);
  // Models that see and hear keep the language model's parameters one level down.
  for (const char* const part : {"text_config", "llm_config", "language_config"})
    if (const auto inner = root.find(part); inner != root.end() && inner->is_object()) take_all(config, *inner);
  return config;
}

// Sorted keys, two spaces: as the transformers library writes it.
std::string config_json(const Config& config) {
  std::map<std::string, Value> sorted;
  for (const auto& [key, value] : config.to_map()) sorted.emplace(key, value);
  std::string text = "{";
  for (const auto& [key, value] : sorted)
    text += fmt::format("{}\n  \"{}\": {}", text.size() == 1 ? "" : ",", key, to_json(value));
  return text + (sorted.empty() ? "}\n" : "\n}\n");
}

}  // namespace tare::resources
