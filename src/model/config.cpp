#include "tare/config.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare {
namespace {

constexpr ConfigField kFields[] = {
    {"model_type", &Config::model_type},
    {"hidden_act", &Config::hidden_act},
    {"tie_word_embeddings", &Config::tie_word_embeddings},
    {"vocab_size", &Config::vocab_size},
    {"hidden_size", &Config::hidden_size},
    {"intermediate_size", &Config::intermediate_size},
    {"num_hidden_layers", &Config::num_hidden_layers},
    {"num_attention_heads", &Config::num_attention_heads},
    {"num_key_value_heads", &Config::num_key_value_heads},
    {"head_dim", &Config::head_dim},
    {"max_position_embeddings", &Config::max_position_embeddings},
    {"sliding_window", &Config::sliding_window},
    {"rope_theta", &Config::rope_theta},
    {"rms_norm_eps", &Config::rms_norm_eps},
    {"initializer_range", &Config::initializer_range},
};

template <typename T>
void take(std::optional<T>& field, const Value& value) {
  if (const auto* exact = value.get<T>()) field = *exact;
  if constexpr (std::is_same_v<T, double>)
    if (const auto* integer = value.get<std::int64_t>()) field = static_cast<double>(*integer);
  // Containers that require UTF-8 text store other text as bytes.
  if constexpr (std::is_same_v<T, std::string>)
    if (const auto* bytes = value.get<Bytes>()) field.emplace(as_text(*bytes));
}

constexpr std::string_view kind_of(const std::string* /*value*/) { return "a text"; }
constexpr std::string_view kind_of(const bool* /*value*/) { return "true or false"; }
constexpr std::string_view kind_of(const std::int64_t* /*value*/) { return "a whole number"; }
constexpr std::string_view kind_of(const double* /*value*/) { return "a number"; }

}  // namespace

std::span<const ConfigField> config_fields() { return kFields; }

bool Config::empty() const { return *this == Config{}; }

Map Config::to_map() const {
  Map map;
  for (const auto& field : kFields)
    std::visit(
        [&](auto member) {
          if (const auto& value = this->*member) map.append(std::string(field.name), Value(*value));
        },
        field.member);
  return map;
}

Config Config::from_map(const Map& map) {
  Config config;
  for (const auto& field : kFields)
    if (const Value* value = map.find(field.name))
      std::visit([&](auto member) { take(config.*member, *value); }, field.member);
  return config;
}

Config Config::from_given(const Map& map) {
  Config config;
  for (const auto& field : kFields) {
    const Value* const value = map.find(field.name);
    if (value == nullptr || value->is_null()) continue;
    std::visit(
        [&](auto member) {
          auto& taken = config.*member;
          take(taken, *value);
          if (taken) return;
          const typename std::remove_reference_t<decltype(taken)>::value_type* const kind = nullptr;
          throw Error(
              ErrorKind::usage, "config.given",
              fmt::format("the config's {} is {}; expected {}", field.name, quote(to_json(*value)), kind_of(kind)))
              .about(std::string(field.name));
        },
        field.member);
  }
  return config;
}

}  // namespace tare
