// config.json and Config. Most families use the names of Config; the table lists the others that are about, and where
// newer files nest what older ones had at the top.
#include <fmt/format.h>

#include <algorithm>
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

std::optional<std::string> read(const json& value, const std::optional<std::string>& /*kind*/) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}
std::optional<bool> read(const json& value, const std::optional<bool>& /*kind*/) {
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}
std::optional<double> read(const json& value, const std::optional<double>& /*kind*/) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}
std::optional<std::int64_t> read(const json& value, const std::optional<std::int64_t>& /*kind*/) {
  // An unsigned number beyond int64 is no count of anything.
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX} ? std::optional(value.get<std::int64_t>())
                                                                  : std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::fabs(number) >= 0x1p53 || std::trunc(number) != number) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

constexpr const char* name_of_kind(const std::optional<std::string>& /*kind*/) { return "a text"; }
constexpr const char* name_of_kind(const std::optional<bool>& /*kind*/) { return "true or false"; }
constexpr const char* name_of_kind(const std::optional<double>& /*kind*/) { return "a number"; }
constexpr const char* name_of_kind(const std::optional<std::int64_t>& /*kind*/) { return "a whole number"; }

class ConfigReader {
 public:
  explicit ConfigReader(std::vector<std::string>* ignored) : ignored_(ignored) {}

  // Sets what is not set yet.
  void take_all(const json& object) {
    for (const ConfigField& field : config_fields()) take_missing(object, field.name, field.name);
    for (const Alias& alias : kAliases) take_missing(object, alias.field, alias.key);
    take_rope(object);
  }
  Config config() const { return config_; }

 private:
  void take_missing(const json& object, std::string_view field_name, std::string_view key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return;
    for (const ConfigField& field : config_fields())
      if (field.name == field_name) std::visit([&](auto member) { take(config_.*member, key, *found); }, field.member);
  }

  template <typename Field>
  void take(Field& field, std::string_view key, const json& value) {
    if (field) return;
    field = read(value, field);
    if (!field && ignored_ != nullptr)
      ignored_->push_back(fmt::format("{} is {}, where {} is expected", key,
                                      value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 40),
                                      name_of_kind(field)));
  }

  // rope_parameters: one set, or one for each kind of layer.
  void take_rope(const json& object) {
    for (const char* const key : {"rope_parameters", "rope_scaling"}) {
      const auto rope = object.find(key);
      if (rope == object.end() || !rope->is_object()) continue;
      take_missing(*rope, "rope_theta", "rope_theta");
      for (const char* const kind : {"full_attention", "global"})
        if (const auto inner = rope->find(kind); inner != rope->end() && inner->is_object())
          take_missing(*inner, "rope_theta", "rope_theta");
    }
  }

  Config config_;
  std::vector<std::string>* ignored_;
};

// Models that see and hear keep the language model's parameters one level down.
constexpr const char* kInner[] = {"text_config", "llm_config", "language_config"};

// Said by the vocabulary, or about the file.
constexpr std::string_view kElsewhere[] = {"bos_token_id", "eos_token_id", "pad_token_id", "transformers_version",
                                           "_name_or_path"};

}  // namespace

Config parse_config(std::string_view text, std::vector<std::string>* ignored) {
  const json root = parse_small_json(text);
  ConfigReader reader(ignored);
  reader.take_all(root);
  for (const char* const part : kInner)
    if (const auto inner = root.find(part); inner != root.end() && inner->is_object()) reader.take_all(*inner);
  return reader.config();
}

std::vector<std::string> keys_beyond_config(std::string_view text) {
  std::vector<std::string> keys;
  const auto known = [](std::string_view key) {
    const auto fields = config_fields();
    return std::any_of(fields.begin(), fields.end(), [&](const ConfigField& field) { return field.name == key; }) ||
           std::any_of(std::begin(kAliases), std::end(kAliases),
                       [&](const Alias& alias) { return alias.key == key; }) ||
           std::find(std::begin(kElsewhere), std::end(kElsewhere), key) != std::end(kElsewhere);
  };
  const json root = parse_small_json(text);
  for (const auto& [key, value] : root.items())
    if (!known(key) && !value.is_null()) keys.push_back(key);
  return keys;
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
