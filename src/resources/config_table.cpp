#include "resources/config_table.hpp"

#include <fmt/format.h>

#include "tare/error.hpp"

namespace tare::resources {
namespace {

// Of these a position is learned, added or biased: there is no angle to rotate by.
constexpr std::string_view kWithoutRope[] = {"albert", "bart", "bert", "bloom",   "distilbert", "electra", "gpt2",
                                             "mpt",    "mt5",  "opt",  "roberta", "t5",         "whisper"};

const ConfigField& field_named(std::string_view name) {
  const auto fields = config_fields();
  return *std::ranges::find(fields, name, &ConfigField::name);
}

}  // namespace

std::optional<Value> as_many_as_heads(const Config& config) { return Value(*config.num_attention_heads); }
std::optional<Value> hidden_size_by_heads(const Config& config) {
  const std::int64_t hidden = config.hidden_size.value_or(0), heads = *config.num_attention_heads;
  return hidden > 0 && hidden % heads == 0 ? std::optional(Value(hidden / heads)) : std::nullopt;
}
std::optional<Value> usual_positions(const Config& /*config*/) { return Value(std::int64_t{32768}); }
std::optional<Value> usual_rope_theta(const Config& config) {
  const bool rotates = std::ranges::find(kWithoutRope, config.model_type.value_or("")) == std::end(kWithoutRope);
  return rotates ? std::optional(Value(10000.0)) : std::nullopt;
}
std::optional<Value> usual_epsilon(const Config& /*config*/) { return Value(1e-5); }

const ConfigField& field_called(Column column, std::string_view name) {
  for (const ConfigRow& row : kConfigTable)
    if ((row.*column).name == name) return field_named(row.field);
  throw Error(ErrorKind::usage, "config.table", fmt::format("no field is called {}", name));
}

}  // namespace tare::resources
