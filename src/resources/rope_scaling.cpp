// What config.json says of scaled rotary positions. One set of parameters, or one for each kind of layer; models that see
// and hear keep the language model's one level down.
#include <cmath>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

using nlohmann::json;

constexpr std::string_view kLanguageParts[] = {"text_config", "llm_config", "language_config"};
constexpr std::string_view kRopeSets[] = {"rope_parameters", "rope_scaling"};
constexpr std::string_view kRopeLayers[] = {"full_attention", "global"};

// Calls visit(object) for what `object` has under each of the keys, if it is an object.
template <std::size_t kCount, typename Visit>
void for_each_inner(const json& object, const std::string_view (&keys)[kCount], const Visit& visit) {
  for (const std::string_view key : keys)
    if (const auto inner = object.find(key); inner != object.end() && inner->is_object()) visit(*inner);
}

// Each sets what is not set yet.
void take_text(std::string& field, const json& object, std::string_view key) {
  if (const auto found = object.find(key); field.empty() && found != object.end() && found->is_string())
    field = found->get<std::string>();
}
void take_number(std::optional<double>& field, const json& object, std::string_view key) {
  if (const auto found = object.find(key); !field && found != object.end() && found->is_number())
    field = found->get<double>();
}
void take_count(std::optional<std::int64_t>& field, const json& object, std::string_view key) {
  std::optional<double> number;
  take_number(number, object, key);
  if (!field && number && std::fabs(*number) < 0x1p53 && std::trunc(*number) == *number)
    field = static_cast<std::int64_t>(*number);
}

void take_set(RopeScaling& scaling, const json& rope) {
  std::string kind;
  take_text(kind, rope, "rope_type");
  take_text(kind, rope, "type");
  if (scaling.kind.empty() && kind != "default") scaling.kind = kind;
  take_number(scaling.factor, rope, "factor");
  take_count(scaling.original_context, rope, "original_max_position_embeddings");
}

void take_all(RopeScaling& scaling, const json& object) {
  for_each_inner(object, kRopeSets, [&](const json& rope) {
    take_set(scaling, rope);
    for_each_inner(rope, kRopeLayers, [&](const json& layer) { take_set(scaling, layer); });
  });
  // Where Phi-3 has it.
  take_count(scaling.original_context, object, "original_max_position_embeddings");
}

}  // namespace

RopeScaling parse_rope_scaling(std::string_view text) {
  const json root = parse_small_json(text);
  RopeScaling scaling;
  take_all(scaling, root);
  for_each_inner(root, kLanguageParts, [&](const json& part) { take_all(scaling, part); });
  return scaling;
}

RopeScaling rope_scaling_of(const Model& model) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr) return {};
  try {
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    return parse_rope_scaling({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return {};
  }
}

}  // namespace tare::resources
