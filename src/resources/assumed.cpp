#include "resources/assumed.hpp"

#include <algorithm>

#include "arch/config_names.hpp"
#include "arch/defaults.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// Names of one thing, beside those of a field of Config.
constexpr std::string_view kExpertCounts[] = {"num_experts", "num_local_experts"};

Value value_of(const arch::Constant& constant) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>)
          return Value(std::string(value));
        else
          return Value(value);
      },
      constant);
}

// config.json and its language parts; empty where there is none, or it does not parse: those who need it complain.
std::vector<Map> parts_of(const Model& model) {
  std::vector<Map> parts;
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr) return parts;
  try {
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    const Map root = parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    for_each_part(root, [&](const Map& part) { parts.push_back(part); });
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    parts.clear();
  }
  return parts;
}

bool is_there(const std::vector<Map>& parts, std::string_view path) {
  return std::ranges::any_of(parts, [&](const Map& part) { return find_path(part, path) != nullptr; });
}

bool says_any_name(const std::vector<Map>& parts, std::string_view key) {
  const auto is = [&](std::string_view name) { return !name.empty() && is_there(parts, name); };
  if (is(key)) return true;
  if (std::ranges::find(kExpertCounts, key) != std::end(kExpertCounts)) return std::ranges::any_of(kExpertCounts, is);
  for (const arch::ConfigRow& row : arch::kConfigTable)
    if (std::ranges::find(row.keys, key) != row.keys.end()) return std::ranges::any_of(row.keys, is);
  return false;
}

// The part about the language says its type, if it says one.
std::string type_of(const Model& model, const std::vector<Map>& parts) {
  std::string type = model.config.model_type.value_or("");
  for (const Map& part : parts)
    if (const std::string* const said = get<std::string>(part, "model_type"); said != nullptr && !said->empty())
      type = *said;
  return type;
}

Map absent_keys(std::string_view type, const std::vector<Map>& parts) {
  Map absent, rope;
  constexpr std::string_view kRope = "rope_parameters.";
  const bool has_rope = is_there(parts, "rope_parameters") || is_there(parts, "rope_scaling");
  for (const arch::Assumed& fact : arch::assumed_keys(type)) {
    if (fact.key.starts_with(kRope)) {
      if (!has_rope) rope.set(fact.key.substr(kRope.size()), value_of(fact.value));
    } else if (!says_any_name(parts, fact.key)) {
      absent.set(fact.key, value_of(fact.value));
    }
  }
  if (!rope.empty()) absent.set("rope_parameters", std::move(rope));
  return absent;
}

void set_default(Map& object, std::string_view key, const Value* value) {
  if (value != nullptr && object.find(key) == nullptr) object.set(key, *value);
}

void name_kind(Map& rope, std::string_view model_type) {
  const Value* const old = rope.find("type");
  set_default(rope, "rope_type", old);
  const Value usual("default");
  set_default(rope, "rope_type", &usual);
  rope.erase("type");
  // Names of earlier versions for what these models do.
  const Value kind = *rope.find("rope_type");
  if (model_type == "phi3" && (kind == Value("su") || kind == Value("yarn"))) rope.set("rope_type", "longrope");
}

const Map* object_in(const FindKey& find, std::string_view key) {
  const Value* const found = find(key);
  const Map* const object = found == nullptr ? nullptr : found->get<Map>();
  return object == nullptr || object->empty() ? nullptr : object;
}

}  // namespace

Ropes ropes_of(std::string_view model_type, const FindKey& find) {
  const Map *const scaling = object_in(find, "rope_scaling"), *const parameters = object_in(find, "rope_parameters");
  const Map *const full = parameters == nullptr ? nullptr : get<Map>(*parameters, "full_attention"),
            *const sliding = parameters == nullptr ? nullptr : get<Map>(*parameters, "sliding_attention");
  const bool gemma = model_type == "gemma3" || model_type == "gemma3_text" || model_type == "gemma-embedding";
  Ropes ropes;
  if (gemma || model_type == "olmo3") {
    if (full != nullptr) ropes.full = *full;
    if (sliding != nullptr) ropes.sliding = *sliding;
    if (scaling != nullptr)
      for (const auto& [key, value] : *scaling) ropes.full.set(key, value);
    set_default(ropes.full, "rope_theta", find("rope_theta"));
    if (gemma) set_default(ropes.sliding, "rope_theta", find("rope_local_base_freq"));
    // OLMo 3: what stands at the top is not for these layers.
    const Value usual(gemma ? 10000.0 : 500000.0);
    set_default(ropes.sliding, "rope_theta", &usual);
    name_kind(ropes.sliding, model_type);
  } else {
    const Map* const said = scaling != nullptr ? scaling : (full != nullptr ? full : parameters);
    if (said != nullptr) ropes.full = *said;
    set_default(ropes.full, "rope_theta", find("rope_theta"));
  }
  name_kind(ropes.full, model_type);
  for (const Map* const object : {full, sliding, parameters, scaling})
    ropes.states_theta = ropes.states_theta || (object != nullptr && object->find("rope_theta") != nullptr);
  return ropes;
}

Map assumed_keys(const Model& model) {
  const std::vector<Map> parts = parts_of(model);
  return parts.empty() ? Map() : absent_keys(type_of(model, parts), parts);
}

Map assume_fields(Model& model) {
  Map filled;
  std::vector<Map> parts = parts_of(model);
  if (parts.empty()) return filled;
  const std::string type = type_of(model, parts);
  const Map absent = absent_keys(type, parts);
  parts.push_back(absent);
  const FindKey find = [&](std::string_view key) -> const Value* {
    for (const Map& part : parts)
      if (const Value* const found = part.find(key); found != nullptr && !found->is_null()) return found;
    return nullptr;
  };
  Map fields = model.config.to_map();
  for (const arch::ConfigRow& row : arch::kConfigTable)
    if (const Value* const value = absent.find(row.field); value != nullptr && fields.find(row.field) == nullptr) {
      fields.set(row.field, *value);
      filled.set(row.field, *value);
    }
  if (const Value* const used = absent.find("use_sliding_window"); used != nullptr && *used == false)
    fields.erase("sliding_window");
  const Ropes ropes = ropes_of(type, find);
  const Value* const theta = ropes.full.find("rope_theta");
  if (const auto number = theta == nullptr ? std::nullopt : number_of(*theta);
      number && (ropes.states_theta || fields.find("rope_theta") == nullptr)) {
    if (fields.find("rope_theta") == nullptr) filled.set("rope_theta", *number);
    fields.set("rope_theta", *number);
  }
  model.config = Config::from_map(fields);
  return filled;
}

}  // namespace tare::resources
