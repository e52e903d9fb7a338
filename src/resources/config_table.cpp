#include "resources/config_table.hpp"

#include <fmt/format.h>

#include "resources/resources.hpp"
#include "resources/tensor_roles.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

const ConfigField& field_named(std::string_view name) {
  const auto fields = config_fields();
  return *std::ranges::find(fields, name, &ConfigField::name);
}

}  // namespace

std::optional<Value> tied_without_head(const Model& model) {
  const std::optional<bool> tied = ties_embeddings(model);
  return tied ? std::optional(Value(*tied)) : std::nullopt;
}
std::optional<Value> as_many_as_heads(const Model& model) { return Value(*model.config.num_attention_heads); }
std::optional<Value> hidden_size_by_heads(const Model& model) {
  const std::int64_t hidden = model.config.hidden_size.value_or(0), heads = *model.config.num_attention_heads;
  return hidden > 0 && hidden % heads == 0 ? std::optional(Value(hidden / heads)) : std::nullopt;
}
std::optional<Value> usual_positions(const Model& /*model*/) { return Value(std::int64_t{32768}); }
std::optional<Value> usual_rope_theta(const Model& model) {
  return rotates(model) ? std::optional(Value(10000.0)) : std::nullopt;
}
std::optional<Value> usual_epsilon(const Model& /*model*/) { return Value(1e-5); }

const ConfigField& field_called(Column column, std::string_view name) {
  for (const ConfigRow& row : kConfigTable)
    if ((row.*column).name == name) return field_named(row.field);
  throw Error(ErrorKind::usage, "config.table", fmt::format("no field is called {}", name));
}

}  // namespace tare::resources
