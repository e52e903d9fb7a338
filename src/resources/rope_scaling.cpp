// What config.json says of rotary positions and their scaling: one set of parameters, or one for each kind of layer.
#include <algorithm>
#include <cmath>

#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kRopeSets[] = {"rope_parameters", "rope_scaling"};
constexpr std::string_view kRopeLayers[] = {"full_attention", "global"};

// Calls visit(object) for what `object` has under each of the keys, if it is an object.
template <std::size_t kCount, typename Visit>
void for_each_inner(const Map& object, const std::string_view (&keys)[kCount], const Visit& visit) {
  for (const std::string_view key : keys)
    if (const Map* const inner = get<Map>(object, key)) visit(*inner);
}

// Each sets what is not set yet.
void take_text(std::string& field, const Map& object, std::string_view key) {
  if (const auto* const found = get<std::string>(object, key); field.empty() && found != nullptr) field = *found;
}
void take_number(std::optional<double>& field, const Map& object, std::string_view key) {
  if (const Value* const found = object.find(key); !field && found != nullptr) field = number_of(*found);
}
void take_count(std::optional<std::int64_t>& field, const Map& object, std::string_view key) {
  std::optional<double> number;
  take_number(number, object, key);
  if (!field && number && std::fabs(*number) < 0x1p53 && std::trunc(*number) == *number)
    field = static_cast<std::int64_t>(*number);
}

void take_set(RopeScaling& scaling, const Map& rope) {
  std::string kind;
  take_text(kind, rope, "rope_type");
  take_text(kind, rope, "type");
  if (scaling.kind.empty() && kind != "default") scaling.kind = kind;
  take_number(scaling.factor, rope, "factor");
  take_count(scaling.original_context, rope, "original_max_position_embeddings");
}

void take_all(RopeScaling& scaling, const Map& object) {
  for_each_inner(object, kRopeSets, [&](const Map& rope) {
    take_set(scaling, rope);
    for_each_inner(rope, kRopeLayers, [&](const Map& layer) { take_set(scaling, layer); });
  });
  // Where Phi-3 has it.
  take_count(scaling.original_context, object, "original_max_position_embeddings");
}

// Of these a position is learned, added or biased, or there is none: no angle to rotate by.
constexpr std::string_view kWithoutRope[] = {
    "albert",     "bart",       "bert",    "big_bird", "blenderbot",  "bloom",   "camembert",   "clip",       "deberta",
    "deberta-v2", "distilbert", "electra", "gpt2",     "gpt_bigcode", "gpt_neo", "layoutlm",    "longformer", "m2m_100",
    "mamba",      "mamba2",     "marian",  "mbart",    "mpnet",       "mpt",     "mt5",         "opt",        "pegasus",
    "roberta",    "rwkv",       "t5",      "vit",      "whisper",     "xlm",     "xlm-roberta", "xlnet"};

bool has_other_positions(const Map& part) {
  for (const char* const key : {"alibi", "attn_config.alibi"})
    if (const Value* const alibi = find_path(part, key); alibi != nullptr && *alibi == true) return true;
  const std::string* const kind = get<std::string>(part, "position_embedding_type");
  return kind != nullptr && *kind != "rope" && *kind != "rotary";
}

// A table of positions: they were learned.
bool has_learned_positions(const Model& model) {
  constexpr std::string_view kPositionTables[] = {"position_embedding.weight", "position_embeddings.weight",
                                                  "embed_positions.weight", "wpe.weight"};
  return std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
    return std::ranges::any_of(kPositionTables, [&](std::string_view end) { return tensor.name.ends_with(end); });
  });
}

// Nothing is done where config.json is missing or does not parse.
template <typename Action>
void with_config_json(const Model& model, const Action& action) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr) return;
  try {
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    action(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
}

}  // namespace

RopeScaling parse_rope_scaling(std::string_view text) {
  const Map root = parse_small_json(text);
  RopeScaling scaling;
  for_each_part(root, [&](const Map& part) { take_all(scaling, part); });
  return scaling;
}

RopeScaling rope_scaling_of(const Model& model) {
  RopeScaling scaling;
  with_config_json(model, [&](std::string_view text) { scaling = parse_rope_scaling(text); });
  return scaling;
}

bool rotates(const Model& model) {
  bool rotates = std::ranges::find(kWithoutRope, model.config.model_type.value_or("")) == std::end(kWithoutRope) &&
                 !has_learned_positions(model);
  with_config_json(model, [&](std::string_view text) {
    for_each_part(parse_small_json(text), [&](const Map& part) { rotates = rotates && !has_other_positions(part); });
  });
  return rotates;
}

}  // namespace tare::resources
