// config.json and Config. Most families use the names of Config; config_table.hpp lists the others that are about, and
// where newer files nest what older ones had at the top.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "resources/config_table.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

using nlohmann::json;

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

// What stands under a key of the table, null when nothing does.
const json* find(const json& object, std::string_view key) {
  const std::size_t dot = key.find('.');
  const auto found = object.find(key.substr(0, dot));
  if (key.empty() || found == object.end()) return nullptr;
  if (dot == key.npos) return &*found;
  return found->is_object() ? find(*found, key.substr(dot + 1)) : nullptr;
}

class ConfigReader {
 public:
  explicit ConfigReader(std::vector<std::string>* ignored) : ignored_(ignored) {}

  // Sets what is not set yet.
  void take_all(const json& object) {
    for (const ConfigRow& row : kConfigTable) {
      take_missing(object, row.field, row.field);
      for (const std::string_view key : row.other_keys) take_missing(object, row.field, key);
    }
  }
  Config config() const { return config_; }

 private:
  void take_missing(const json& object, std::string_view field_name, std::string_view key) {
    const json* const value = find(object, key);
    if (value == nullptr || value->is_null()) return;
    for (const ConfigField& field : config_fields())
      if (field.name == field_name) std::visit([&](auto member) { take(config_.*member, key, *value); }, field.member);
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
    const auto says = [&](const ConfigRow& row) {
      return row.field == key || (!key.empty() && std::ranges::find(row.other_keys, key) != row.other_keys.end());
    };
    return std::ranges::any_of(kConfigTable, says) || std::ranges::find(kElsewhere, key) != std::end(kElsewhere);
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
