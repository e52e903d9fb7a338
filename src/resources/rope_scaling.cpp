// Rotary positions and their scaling in config.json: one set of parameters, or one for each kind of layer.
#include <algorithm>
#include <cmath>

#include "arch/model_types.hpp"
#include "base/text.hpp"
#include "resources/config_file.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

std::optional<std::int64_t> whole_number(const std::optional<double>& number) {
  if (!number || std::fabs(*number) >= 0x1p53 || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

RopeScaling scaling_in(const ConfigFile& file) {
  const Map& rope = file.ropes().full;
  const auto number = [&](std::string_view key) {
    const Value* const found = rope.find(key);
    return found == nullptr ? std::nullopt : number_of(*found);
  };
  RopeScaling scaling;
  if (const auto* const kind = get<std::string>(rope, "rope_type"); kind != nullptr && *kind != "default")
    scaling.kind = *kind;
  scaling.factor = number("factor");
  scaling.original_context = whole_number(number("original_max_position_embeddings"));
  // Phi-3 has it here.
  if (!scaling.original_context)
    scaling.original_context = whole_number(file.number("original_max_position_embeddings"));
  return scaling;
}

bool has_other_positions(const Map& part) {
  for (const char* const key : {"alibi", "attn_config.alibi"})
    if (const Value* const alibi = find_path(part, key); alibi != nullptr && *alibi == true) return true;
  const std::string* const kind = get<std::string>(part, "position_embedding_type");
  return kind != nullptr && *kind != "rope" && *kind != "rotary";
}

// Returns whether the model has a table of positions.
bool has_learned_positions(const Model& model) {
  constexpr std::string_view kPositionTables[] = {"position_embedding.weight", "position_embeddings.weight",
                                                  "embed_positions.weight", "wpe.weight"};
  return std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
    return std::ranges::any_of(kPositionTables, [&](std::string_view end) { return tensor.name.ends_with(end); });
  });
}

// Does nothing if config.json is missing or does not parse.
template <typename Action>
void with_config_json(const Model& model, const Action& action) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr) return;
  try {
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    action(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
}

}  // namespace

RopeScaling parse_rope_scaling(std::string_view text) { return scaling_in(ConfigFile(parse_small_json(text))); }

RopeScaling rope_scaling_of(const Model& model) {
  const ConfigFile file(model);
  return file.empty() ? RopeScaling() : scaling_in(file);
}

bool rotates(const Model& model) {
  bool rotates = !arch::has_no_rope(model.config.model_type.value_or("")) && !has_learned_positions(model);
  with_config_json(model, [&](std::string_view text) {
    const Map root = parse_small_json(text);
    for (const Map* const part : language_parts(root)) rotates = rotates && !has_other_positions(*part);
  });
  return rotates;
}

}  // namespace tare::resources
