#include "arch/config_names.hpp"

#include "arch/defaults.hpp"
#include "arch/model_types.hpp"
#include "arch/usual_names.hpp"

namespace tare::arch {

bool reads_key(std::string_view model_type, const ConfigRow& row, std::string_view key) {
  if (assumed_keys(model_type).empty() || has_own_names(model_type)) return true;
  // Programs disagree about which of its two names counts in Gemma's files; rope_theta has a precedence of its own.
  if (row.field == "hidden_act") return key == "hidden_act" || key == "hidden_activation";
  return row.field == "rope_theta" || key == row.keys.front();
}

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
std::optional<Value> usual_rope_theta(const Model& /*model*/) { return Value(10000.0); }
std::optional<Value> usual_epsilon(const Model& /*model*/) { return Value(1e-5); }

}  // namespace tare::arch
