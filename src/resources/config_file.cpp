#include "resources/config_file.hpp"

#include <algorithm>

#include "arch/config_names.hpp"
#include "arch/defaults.hpp"
#include "arch/model_classes.hpp"
#include "arch/model_types.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

// Two names of one key that is not in the table of fields.
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

bool is_there(const std::vector<Map>& parts, std::string_view path) {
  return std::ranges::any_of(parts, [&](const Map& part) { return find_path(part, path) != nullptr; });
}

bool says_any_name(const std::vector<Map>& parts, std::string_view key) {
  const auto is = [&](std::string_view name) { return !name.empty() && is_there(parts, name); };
  if (is(key)) return true;
  // A theta inside of an object takes precedence, but does not hide this one.
  if (key == "rope_theta") return false;
  if (std::ranges::find(kExpertCounts, key) != std::end(kExpertCounts)) return std::ranges::any_of(kExpertCounts, is);
  return false;
}

// Returns the object under a key of any part; null if there is none.
const Map* object_in(const std::vector<Map>& parts, std::string_view key) {
  for (const Map& part : parts)
    if (const Map* const object = get<Map>(part, key)) return object;
  return nullptr;
}
// An empty object is the same as none.
const Map* filled_object(const Map* object) { return object == nullptr || object->empty() ? nullptr : object; }

Map absent_keys(std::string_view type, const std::vector<Map>& parts) {
  Map absent, rope;
  constexpr std::string_view kRope = "rope_parameters.";
  const bool has_rope =
      object_in(parts, "rope_parameters") != nullptr || filled_object(object_in(parts, "rope_scaling")) != nullptr;
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

// Sets rope_type, also from the names that earlier versions used for the key and for its values.
void name_kind(Map& rope, std::string_view type) {
  set_default(rope, "rope_type", rope.find("type"));
  if (rope.find("rope_type") == nullptr) rope.set("rope_type", "default");
  rope.erase("type");
  const Value kind = *rope.find("rope_type");
  if (arch::class_of(type).has_longrope_only && (kind == Value("su") || kind == Value("yarn")))
    rope.set("rope_type", "longrope");
}

// The length at the top of config.json takes precedence over the one inside of the object.
void take_original_context(Map& rope, const ConfigFile& file) {
  constexpr std::string_view kKinds[] = {"llama3", "longrope", "yarn"}, kKey = "original_max_position_embeddings";
  const std::string* const kind = get<std::string>(rope, "rope_type");
  if (kind == nullptr || std::ranges::find(kKinds, *kind) == std::end(kKinds)) return;
  if (const Value* const stated = file.find(kKey)) rope.set(kKey, *stated);
}

Ropes ropes_of(std::string_view type, const ConfigFile& file) {
  const auto object = [&](std::string_view key) {
    const Value* const found = file.find(key);
    return filled_object(found == nullptr ? nullptr : found->get<Map>());
  };
  const Map *const scaling = object("rope_scaling"), *const parameters = object("rope_parameters");
  const auto inner = [&](std::string_view key) -> const Map* {
    return parameters == nullptr ? nullptr : get<Map>(*parameters, key);
  };
  Ropes ropes;
  if (arch::has_ropes_by_layer(type)) {
    // A kind without an object starts as "default"; a "type" in rope_scaling does not replace a rope_type.
    const auto begin = [&](Map& rope, std::string_view key) {
      if (const Map* const said = inner(key))
        rope = *said;
      else
        rope.set("rope_type", "default");
    };
    begin(ropes.full, "full_attention");
    begin(ropes.sliding, "sliding_attention");
    if (scaling != nullptr)
      for (const auto& [key, value] : *scaling) ropes.full.set(key, value);
    const arch::ModelClass& reads = arch::class_of(type);
    if (!reads.earlier_base_key.empty()) {
      set_default(ropes.full, "rope_theta", file.find(reads.earlier_base_key));
      set_default(ropes.sliding, "rope_theta", file.find(reads.earlier_local_base_key));
    }
    // OLMo 3 has no key for these layers, and does not use its rope_theta for them.
    set_default(ropes.sliding, "rope_theta", file.find("rope_local_base_freq"));
    name_kind(ropes.sliding, type);
  } else {
    const Map* said = scaling != nullptr ? scaling : parameters;
    // Unknown families may have an object for each kind of layer.
    if (scaling == nullptr && arch::assumed_keys(type).empty())
      for (const std::string_view key : {"global", "full_attention"})
        if (const Map* const found = inner(key)) said = found;
    if (said != nullptr) ropes.full = *said;
  }
  set_default(ropes.full, "rope_theta", file.find(arch::class_of(type).rope_base_key));
  set_default(ropes.full, "rope_theta", file.find("rope_theta"));
  name_kind(ropes.full, type);
  if (ropes.sliding.empty()) take_original_context(ropes.full, file);
  return ropes;
}

}  // namespace

ConfigFile::ConfigFile(const Map& root) { read(root); }

ConfigFile::ConfigFile(const Model& model) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr || file->made) return;
  try {
    const Bytes bytes = file->blob.bytes(kMaxFileBytes);
    read(parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
}

void ConfigFile::read(const Map& root) {
  const std::vector<const Map*> parts = language_parts(root);
  for (const Map* const part : parts) parts_.push_back(*part);
  if (parts.front() != &root) top_ = root;
  for (const Map* const part : {&root, parts.front()})
    if (const std::string* const said = get<std::string>(*part, "model_type"); said != nullptr && !said->empty())
      type_ = *said;
  assumed_ = absent_keys(type_, parts_);
  ropes_ = ropes_of(type_, *this);
}

const Value* ConfigFile::find(std::string_view path) const& {
  if (!asked_.contains(path)) asked_.emplace(path);
  const auto in = [&](const Map& part) {
    const Value* const found = find_path(part, path);
    return found == nullptr || found->is_null() ? nullptr : found;
  };
  if (is_key_of_top(path))
    if (const Value* const found = in(top_)) return found;
  for (const Map& part : parts_)
    if (const Value* const found = in(part)) return found;
  return in(assumed_);
}

const Value* ConfigFile::find_outside(std::string_view path) const& {
  asked_.emplace(path);
  if (parts_.empty()) return nullptr;
  const Value* const found = find_path(top_.empty() ? parts_.front() : top_, path);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool ConfigFile::was_asked_for(std::string_view path) const {
  // The path in config.json itself may begin with the name of the language part.
  for (std::string_view rest = path;; rest.remove_prefix(rest.find('.') + 1)) {
    for (std::size_t end = rest.size(); end != rest.npos; end = rest.substr(0, end).rfind('.'))
      if (asked_.contains(rest.substr(0, end))) return true;
    if (rest.find('.') == rest.npos) return false;
  }
}

bool ConfigFile::is_null(std::string_view path) const { return find(path) == nullptr && is_there(parts_, path); }

std::optional<double> ConfigFile::number(std::string_view path) const {
  const Value* const found = find(path);
  return found == nullptr ? std::nullopt : number_of(*found);
}

Map assume_fields(Config& config, const ConfigFile& file) {
  Map filled, fields = config.to_map();
  const auto fill = [&](std::string_view field, const Value* value) {
    if (value == nullptr || fields.find(field) != nullptr) return;
    fields.set(field, *value);
    filled.set(field, *value);
  };
  const Value* const used = file.find("use_sliding_window");
  const bool windows = used == nullptr || *used != false;
  for (const arch::ConfigRow& row : arch::kConfigTable)
    if (row.field != "rope_theta" && (windows || row.field != "sliding_window"))
      for (const std::string_view key : row.keys)
        if (key == row.field || (!key.empty() && arch::has_own_names(file.model_type())))
          fill(row.field, file.assumed().find(key));
  if (!arch::assumed_keys(file.model_type()).empty()) {
    const Value* const theta = file.ropes().full.find("rope_theta");
    // A text in place of the number is ignored, as in every other key.
    if (theta != nullptr && number_of(*theta)) fill("rope_theta", theta);
    for (const arch::Assumed& fact : arch::assumed_keys(file.model_type()))
      if (const Value usual = value_of(fact.value); fact.key == "rope_theta") fill("rope_theta", &usual);
  }
  // Falcon and StarCoder share one key and value by default.
  const auto says = [&](std::string_view key) {
    const Value* const found = file.find(key);
    return found != nullptr && *found == true;
  };
  const Value one(std::int64_t{1});
  if (says("multi_query") && !says("new_decoder_architecture")) fill("num_key_value_heads", &one);
  config = Config::from_map(fields);
  // Classes with another default compute it if it is null.
  const std::int64_t hidden = config.hidden_size.value_or(0), heads = config.num_attention_heads.value_or(0);
  if (!config.head_dim && file.is_null("head_dim") && heads > 0 && hidden >= heads) {
    config.head_dim = hidden / heads;
    filled.set("head_dim", *config.head_dim);
  }
  return filled;
}

}  // namespace tare::resources
