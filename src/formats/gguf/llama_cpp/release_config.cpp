// Makes config.json from the keys and the tensors.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arch/defaults.hpp"
#include "arch/model_classes.hpp"
#include "arch/model_types.hpp"
#include "base/budget.hpp"
#include "base/json_writer.hpp"
#include "base/text.hpp"
#include "base/whole.hpp"
#include "codecs/packs/expert_arrays.hpp"
#include "formats/gguf/llama_cpp/by_layer.hpp"
#include "formats/gguf/llama_cpp/release_files.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "wire/json_edit.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::Role;

void add_router(const Origin& origin, const arch::KeyRow& row, Map& keys) {
  const auto number = origin.number(row.key);
  if (!number || *number == 0) return;
  for (std::size_t i = 1; i < arch::kRouters.size(); ++i)
    if (*number == static_cast<double>(i)) return keys.set(row.from[0], std::string(arch::kRouters[i]));
  origin.report_key(row.key, fmt::format("the way {} to weight experts is not known", *number));
}

void add_norm_count(const Origin& origin, const arch::KeyRow& row, Map& keys) {
  const bool both = std::ranges::any_of(origin.model.tensors, [&](const Tensor& tensor) {
    const auto name = arch::parse(origin.family, arch::Dialect::gguf, tensor.name);
    return name && name->role == Role::own_attention_norm;
  });
  if (origin.model.config.num_key_value_heads.value_or(1) > 1) keys.set(row.from[0], std::int64_t{both ? 2 : 1});
}

void add_words(const Origin& origin, const arch::KeyRow& row, Map& keys) {
  const Value* const found = origin.keys.find(row.key);
  const List* const flags = found == nullptr ? nullptr : found->get<List>();
  if (found != nullptr && flags == nullptr) throw origin.keys.refused(row.key, *found, "a list of flags");
  if (flags == nullptr) return;
  List words;
  for (const Value& flag : *flags) {
    if (flag.get<bool>() == nullptr) throw origin.keys.refused(row.key, *found, "a list of flags");
    words.emplace_back(flag == true ? row.text : row.otherwise);
  }
  keys.set(row.from[0], std::move(words));
}

void add_extra(const Origin& origin, const arch::KeyRow& row, Map& keys) {
  if (row.form == arch::KeyForm::groups) {
    if (origin.number(row.key).value_or(1) > 1) keys.set(row.from[0], "group_limited_greedy");
    return;
  }
  if (row.form == arch::KeyForm::several)
    return keys.set(row.from[0], origin.model.config.num_key_value_heads.value_or(1) > 1);
  if (row.form == arch::KeyForm::norms) return add_norm_count(origin, row, keys);
  // Where they matter, another part reads them.
  if (row.form == arch::KeyForm::always_text || row.form == arch::KeyForm::usual_text) return;
  if (row.form == arch::KeyForm::length) return origin.keys.ignore(row.key);   // describes the tower, which is not here
  if (row.form == arch::KeyForm::of_type) return origin.keys.ignore(row.key);  // hub_class chooses the class by it
  if (row.form == arch::KeyForm::never) {
    if (origin.keys.flag(row.key) == true) origin.report_key(row.key, "it is true, and the class always means false");
    return;
  }
  if (row.form == arch::KeyForm::word) {
    if (const std::string* const text = origin.keys.text(row.key)) keys.set(row.from[0], *text);
    return;
  }
  if (row.form == arch::KeyForm::words) return add_words(origin, row, keys);
  if (row.form == arch::KeyForm::router) return add_router(origin, row, keys);
  if (row.form == arch::KeyForm::flag) {
    if (const auto flag = origin.keys.flag(row.key))
      keys.set(row.from[0], *flag);
    else if (row.unstated)
      keys.set(row.from[0], *row.unstated != 0);
    return;
  }
  auto found = origin.number(row.key);
  if (row.form == arch::KeyForm::always) {
    if (found && *found != row.number)
      origin.report_key(row.key, fmt::format("it is {}, and the class always means {}", *found, row.number));
    return;
  }
  const bool unset = found && *found == 0 && row.zero == arch::Zero::unset && row.unstated;
  if (!found || unset) found = row.unstated;
  if (!found || row.is_derived()) return;
  const auto factor = row.factor == arch::kWidth && origin.model.config.hidden_size
                          ? std::optional(static_cast<double>(*origin.model.config.hidden_size))
                          : origin.number(row.factor);
  if (!row.factor.empty()) {
    if (!factor || *factor <= 0) return;
    *found = std::floor(*found / *factor);
  }
  if (*found != 0 || row.zero == arch::Zero::counts)
    keys.set(row.from[0], takes_float(row) ? Value(*found) : Value(whole_part(*found)));
  else if (row.zero == arch::Zero::null)
    keys.set(row.from[0], Value());
}

// Sets the keys that have no field in Config. For most of them, llama.cpp takes 0 for "not set"; transformers would
// compute with it.
void add_extras(const Origin& origin, Map& keys) {
  for (const arch::KeyRows rows : origin.family.runtime.keys)
    for (const arch::KeyRow& row : rows) add_extra(origin, row, keys);
}

// Latent attention: GGUF has one head, of the short vector and the rotated part.
void add_latent_heads(const Origin& origin, Map& keys) {
  const auto whole = origin.number(arch::kHeadAndRotated), rotated = origin.number(arch::kRotated);
  if (!whole || !rotated || *whole <= *rotated)
    throw origin.keys.refused(whole ? arch::kRotated : arch::kHeadAndRotated, Value(rotated.value_or(0)),
                              "the size of a head and of its rotated part");
  keys.set("qk_nope_head_dim", whole_part(*whole - *rotated));
  keys.set("num_key_value_heads", origin.model.config.num_attention_heads.value_or(0));
  keys.erase("head_dim");
}

// Modules whose weights are not packed, although the experts are.
void add_packing(const Origin& origin, Map& keys) {
  if (!origin.way.packs) return;
  List modules;
  for (const std::string_view name : origin.family.runtime.unpacked_modules) modules.emplace_back(name);
  Map packing;
  packing.set("modules_to_not_convert", std::move(modules));
  packing.set("quant_method", codec::packs::kExpertArrays);
  keys.set("quantization_config", std::move(packing));
}

// Returns whether transformers has a default for a key that config.json lacks.
bool is_assumed(std::string_view key, std::string_view type) {
  return std::ranges::find(arch::assumed_keys(type), key, &arch::Assumed::key) != arch::assumed_keys(type).end();
}

void add_heads(const Origin& origin, Map& keys, std::string_view type) {
  if (origin.family.runtime.has_latent_attention) return add_latent_heads(origin, keys);
  const auto head = static_cast<double>(origin.head_size());
  const std::string_view part = arch::class_of(type).rotated_part_key;
  const auto rotated = origin.number("rope.dimension_count");
  // Classes that rotate a part by default need a key if all is rotated.
  if ((!rotated || *rotated == head) && is_assumed(part, type)) keys.set(part, 1.0);
  if (rotated && *rotated != head && !origin.family.runtime.mixes_layers) {
    if (origin.family.runtime.rotates_part && *rotated > 0 && *rotated < head)
      keys.set(part, *rotated / head);
    else
      origin.report_key(
          "rope.dimension_count",
          fmt::format("{} of {} elements of a head are rotated, and transformers rotates all", *rotated, head));
  }
  if (const auto size = origin.number("attention.value_length"); size && *size != head)
    origin.report_key("attention.value_length",
                      fmt::format("values have heads of {} elements, and transformers expects {}", *size, head));
}

// Returns whether any layer has one.
bool has_bias(const Origin& origin, std::span<const Role> roles) {
  return std::ranges::any_of(origin.model.tensors, [&](const Tensor& tensor) {
    const auto name = arch::parse(origin.family, arch::Dialect::gguf, tensor.name);
    return name && name->suffix == arch::Suffix::bias && std::ranges::find(roles, name->role) != roles.end();
  });
}

void add_biases(const Origin& origin, Map& keys, std::string_view type) {
  const arch::ModelClass& reads = arch::class_of(type);
  for (const arch::BiasGroup& group : reads.biases)
    if (const bool has = has_bias(origin, group.roles); !group.key.empty() && has != group.otherwise)
      keys.set(group.key, has);
}

void add_qk_norms(const Origin& origin, Map& keys, std::string_view type) {
  const std::string_view key = arch::class_of(type).qk_norm_key;
  if (key.empty()) return;
  keys.set(key, std::ranges::any_of(origin.model.tensors, [&](const Tensor& tensor) {
             const auto name = arch::parse(origin.family, arch::Dialect::gguf, tensor.name);
             return name && name->role == Role::q_norm;
           }));
}

// Throws `convert.config` if sizes are missing that llama.cpp needs, too: readers of config.json would assume others.
void require_sizes(const Origin& origin) {
  const Map fields = origin.model.config.to_map();
  std::vector<std::string> missing;
  for (const OwnField& own : kOwnFields)
    for (const std::string_view field :
         {"hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads"})
      if (own.field == field && fields.find(field) == nullptr &&
          (field != "intermediate_size" || !origin.family.runtime.has_only_experts))
        missing.push_back(key_of(origin.family, own.name));
  const bool mixture = arch::class_of(origin.family.model_types.front()).experts != arch::Experts::none;
  const bool may_lack = origin.family.runtime.shared_alone || origin.family.runtime.has_no_experts;
  if ((mixture && !may_lack) || origin.number("expert_count").value_or(0) > 0)
    for (const std::string_view name : {"expert_count", "expert_used_count"})
      if (origin.number(name).value_or(0) <= 0) missing.push_back(key_of(origin.family, name));
  if (!missing.empty())
    throw Error(
        ErrorKind::unsupported, "convert.config",
        fmt::format("expected the keys {}, from which config.json is made, found none", fmt::join(missing, ", ")))
        .blame(Subject::input)
        .remedy(Remedy::keep_names);
}

void report_window(const Origin& origin, std::string_view type) {
  if (origin.model.config.sliding_window.value_or(0) > 0 && !arch::class_of(type).has_window)
    origin.report_key("attention.sliding_window", fmt::format("a {} model of transformers has no window", type));
}

// Fills in keys that the file does not have, if llama.cpp's default differs from that of transformers for the type.
void fill_in_unstated(const Origin& origin, Map& keys, std::string_view type) {
  const auto fill = [&](std::string_view key, Value value) {
    if (keys.find(key) == nullptr) keys.set(key, std::move(value));
  };
  const std::int64_t head = origin.head_size();
  if (origin.model.config.num_attention_heads && !origin.model.config.num_key_value_heads)
    fill("num_key_value_heads", *origin.model.config.num_attention_heads);
  if (is_assumed("head_dim", type) && head > 0) fill("head_dim", head);
  if (is_assumed("num_nextn_predict_layers", type)) fill("num_nextn_predict_layers", std::int64_t{0});
  // Files that were made before these keys existed: llama.cpp derives the sizes.
  const std::int64_t rows = origin.model.config.intermediate_size.value_or(0);
  const auto used = whole_part(origin.number("expert_used_count").value_or(0));
  if (is_assumed("moe_intermediate_size", type) && rows > 0 && used > 0) fill("moe_intermediate_size", rows / used);
  if (is_assumed("shared_expert_intermediate_size", type) && rows > 0) fill("shared_expert_intermediate_size", rows);
  if (!arch::has_no_rope(type)) fill("rope_theta", 10000.0);
  if (arch::class_of(type).assumes_window) fill("sliding_window", Value());
  if (origin.family.runtime.row(arch::kAttentionScale) != nullptr && head > 0)
    fill("attention_multiplier", 1 / std::sqrt(static_cast<double>(head)));
  // Without the key, llama.cpp uses a window in no layer.
  const std::int64_t layers = origin.model.config.num_hidden_layers.value_or(0);
  if (!origin.family.runtime.states_window_period || origin.model.config.sliding_window.value_or(0) > 0 || layers <= 0)
    return;
  require_count(static_cast<std::uint64_t>(layers), "layers");
  keys.set("layer_types", List(static_cast<std::size_t>(layers), Value("full_attention")));
}

// One architecture of llama.cpp covers several families of Hugging Face's.
struct HubClass {
  std::string_view type;
  std::string name;
};

HubClass hub_class_with_head(const Origin& origin) {
  const auto holds = [&](const arch::Variant& variant) {
    switch (variant.when) {
      case arch::When::always: return true;
      case arch::When::has_experts: return origin.number("expert_count").value_or(0) > 0;
      case arch::When::states_type: return origin.model.config.model_type == variant.model_type;
      case arch::When::lacks_yarn: return !origin.is_yarn();
      case arch::When::lacks_router_bias:
        return std::ranges::none_of(origin.model.tensors, [&](const Tensor& tensor) {
          const auto name = arch::parse(origin.family, arch::Dialect::gguf, tensor.name);
          return name && name->role == Role::router_bias;
        });
      case arch::When::norms_states: return origin.keys.flag("ssm.dt_b_c_rms") == true;
      case arch::When::has_window: return origin.model.config.sliding_window.value_or(0) > 0;
    }
    return false;
  };
  const auto variant = std::ranges::find_if(origin.family.variants, holds);
  if (variant != origin.family.variants.end()) return {variant->model_type, std::string(variant->architecture)};
  return {origin.family.model_types.front(), std::string(origin.family.architectures.front())};
}

HubClass hub_class(const Origin& origin) {
  HubClass hub = hub_class_with_head(origin);
  // The class without a head; its tensor names begin without "model.".
  constexpr std::string_view kWithHead = "ForCausalLM";
  if (origin.way.root == arch::Root::bare && hub.name.ends_with(kWithHead))
    hub.name.replace(hub.name.size() - kWithHead.size(), kWithHead.size(),
                     hub.type.ends_with("_text") ? "TextModel" : "Model");
  return hub;
}

// From a period, or a list with a flag for each layer.
std::vector<bool> layers_with_window(const Origin& origin, std::size_t layers) {
  constexpr std::string_view kKey = "attention.sliding_window_pattern";
  std::vector<bool> windows(layers);
  const Value* const pattern = origin.keys.find(kKey);
  if (const List* const flags = pattern == nullptr ? nullptr : pattern->get<List>()) {
    if (flags->size() < layers)
      throw origin.keys.refused(kKey, *pattern, fmt::format("a flag for each of {} layers", layers));
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const Value& item = (*flags)[layer];
      const bool* const flag = item.get<bool>();
      if (flag == nullptr && !resources::number_of(item)) throw origin.keys.refused(kKey, *pattern, "flags");
      windows[layer] = flag != nullptr ? *flag : resources::number_of(item) != 0;
    }
    return windows;
  }
  const double said = origin.number(kKey).value_or(static_cast<double>(origin.family.runtime.window_period));
  const auto period = said >= 1 && said <= 1e9 ? static_cast<std::size_t>(said) : 0;
  const bool first = origin.family.runtime.first_sees_all;
  for (std::size_t layer = 0; layer < layers; ++layer)
    windows[layer] = period == 0 || (first ? layer % period != 0 : layer % period + 1 < period);
  return windows;
}

// Sets which layers have attention.
void add_layer_kinds(const Origin& origin, Map& keys) {
  const std::string_view other = origin.family.runtime.no_attention;
  const Value* const found = other.empty() ? nullptr : origin.keys.find(arch::kKeyHeads);
  const List* const heads = found == nullptr ? nullptr : found->get<List>();
  const std::int64_t layers = origin.model.config.num_hidden_layers.value_or(0);
  if (other.empty()) return;
  if (heads != nullptr && std::ssize(*heads) < layers)
    throw origin.keys.refused(arch::kKeyHeads, *found, fmt::format("a number for each of {} layers", layers));
  require_count(static_cast<std::uint64_t>(std::max<std::int64_t>(layers, 0)), "layers");
  List types;
  for (std::size_t layer = 0; std::cmp_less(layer, layers); ++layer)
    types.emplace_back(heads != nullptr && (*heads)[layer] == Value(std::int64_t{0}) ? other
                                                                                     : origin.family.runtime.attention);
  keys.set("layer_types", std::move(types));
}

// Sets the kind of each layer, which is one thing: by its numbers of heads and rows.
void add_mixed_layers(const Origin& origin, Map& keys) {
  const arch::Runtime& runtime = origin.family.runtime;
  if (!runtime.mixes_layers) return;
  const std::int64_t layers = origin.model.config.num_hidden_layers.value_or(0);
  require_count(static_cast<std::uint64_t>(std::max<std::int64_t>(layers, 0)), "layers");
  const auto listed = [&](std::string_view key) -> const List& {
    const Value* const found = origin.keys.find(key);
    const List* const list = found == nullptr ? nullptr : found->get<List>();
    if (list == nullptr || std::ssize(*list) < layers)
      throw origin.keys.refused(key, found == nullptr ? Value() : *found,
                                fmt::format("a number for each of {} layers", layers));
    return *list;
  };
  const List &heads = listed(arch::kKeyHeads), &rows = listed(kNetworkRows);
  List words;
  for (std::size_t layer = 0; std::cmp_less(layer, layers); ++layer) {
    arch::LayerKind kind = arch::LayerKind::state;
    if (heads[layer] != Value(std::int64_t{0}))
      kind = arch::LayerKind::attention;
    else if (rows[layer] != Value(std::int64_t{0}))
      kind = runtime.has_no_experts ? arch::LayerKind::network : arch::LayerKind::experts;
    words.emplace_back(arch::word_of(kind));
  }
  keys.set(arch::kLayerKinds, std::move(words));
}

// Sets which layers have a state in place of attention.
void add_state_layers(const Origin& origin, Map& keys) {
  const std::string_view state = origin.family.runtime.state;
  if (state.empty()) return;
  constexpr std::string_view kKey = "attention.recurrent_layers";
  const Value* const count = keys.find("num_hidden_layers");
  const std::int64_t layers = std::max<std::int64_t>(
      count == nullptr ? 0 : static_cast<std::int64_t>(resources::number_of(*count).value_or(0)), 0);
  require_count(static_cast<std::uint64_t>(layers), "layers");
  const Value* const found = origin.keys.find(kKey);
  const List* const flags = found == nullptr ? nullptr : found->get<List>();
  if (found != nullptr && (flags == nullptr || std::ssize(*flags) < layers))
    throw origin.keys.refused(kKey, *found, fmt::format("a flag for each of {} layers", layers));
  // Files of earlier converters have the interval alone.
  const double said = origin.number("full_attention_interval").value_or(4);
  const auto period = said >= 1 && said <= 1e9 ? static_cast<std::int64_t>(said) : 1;
  List types;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool has_state =
        flags != nullptr ? (*flags)[static_cast<std::size_t>(layer)] == true : (layer + 1) % period != 0;
    types.emplace_back(has_state ? state : "full_attention");
  }
  keys.set("layer_types", std::move(types));
}

// Sets which layers have a window, and the rotary base of those.
void add_layers(const Origin& origin, Map& keys) {
  if (origin.family.runtime.window_period == 0) return;
  if (origin.model.config.sliding_window.value_or(0) <= 0) {
    // Without a window, all layers are alike.
    origin.keys.ignore("attention.sliding_window_pattern");
    origin.keys.ignore("rope.freq_base_swa");
    return;
  }
  require_count(
      static_cast<std::uint64_t>(std::max<std::int64_t>(origin.model.config.num_hidden_layers.value_or(0), 0)),
      "layers");
  const auto layers =
      static_cast<std::size_t>(std::max<std::int64_t>(origin.model.config.num_hidden_layers.value_or(0), 0));
  const std::vector<bool> windows = layers_with_window(origin, layers);
  List types;
  for (const bool window : windows) types.emplace_back(window ? "sliding_attention" : "full_attention");
  if (!types.empty()) keys.set("layer_types", std::move(types));
  if (!origin.family.runtime.states_window_period) return;
  if (const auto base = origin.number("rope.freq_base_swa")) keys.set("rope_local_base_freq", *base);
}

// The file's layers include those that predict further tokens.
void subtract_next_layers(const Origin& origin, Map& keys) {
  const arch::Runtime& runtime = origin.family.runtime;
  const bool counts = runtime.counts_next_layers || runtime.next_layers_apart || runtime.counts_present_next_layers;
  const auto further = counts ? origin.number("nextn_predict_layers") : std::nullopt;
  const std::int64_t layers = origin.model.config.num_hidden_layers.value_or(0);
  if (further && *further > 0 && *further < static_cast<double>(layers))
    keys.set("num_hidden_layers", layers - static_cast<std::int64_t>(*further));
  if (further && runtime.counts_present_next_layers) keys.set("num_nextn_predict_layers", whole_part(*further));
}

void add_layer_norm(const Origin& origin, Map& keys) {
  const std::string_view name = origin.family.runtime.layer_norm_key;
  if (name.empty()) return;
  const auto epsilon = origin.number("attention.layer_norm_epsilon");
  const std::optional<double> stated = epsilon ? epsilon : origin.model.config.rms_norm_eps;
  keys.erase("rms_norm_eps");
  if (stated) keys.set(name, *stated);
}

// A family may have a name of its own for the size of the window.
void name_window(const Origin& origin, Map& keys) {
  const std::string_view own = origin.family.runtime.window_key;
  const Value* const window = keys.find("sliding_window");
  if (own == "sliding_window" || window == nullptr) return;
  keys.set(own, Value(*window));
  keys.erase("sliding_window");
}

// Numbers that GGUF has although the class has no such thing.
void forget_attention(const Origin& origin, Map& keys) {
  if (!origin.family.runtime.only_states) return;
  for (const std::string_view key :
       {"num_attention_heads", "num_key_value_heads", "intermediate_size", "max_position_embeddings"})
    keys.erase(key);
}

// Classes with a key of their own for the rotary base ignore the usual one.
void name_rope_base(Map& keys, std::string_view type) {
  constexpr std::string_view kUsual = "rope_theta";
  const std::string_view own = arch::class_of(type).rope_base_key;
  const Value* const base = keys.find(kUsual);
  if (own == kUsual || base == nullptr) return;
  keys.set(own, Value(*base));
  keys.erase(kUsual);
}

}  // namespace

std::string made_config_json(const Origin& origin) {
  Map keys = resources::parse_small_json(resources::config_json(origin.model.config, origin.model.vocabulary));
  const HubClass hub = hub_class(origin);
  keys.set("model_type", hub.type);
  origin.model.config.model_type = hub.type;
  keys.set("architectures", List{Value(hub.name)});
  if (const std::string_view plain = origin.family.runtime.plain_size_key; !plain.empty())
    keys.set(plain, origin.model.config.intermediate_size.value_or(0));
  add_extras(origin, keys);
  keys.set("tie_word_embeddings", origin.table(Role::output_head) == nullptr);
  if (const Tensor* const embedding = origin.table(Role::token_embedding);
      embedding != nullptr && embedding->shape.rank() == 2)
    keys.set("vocab_size", static_cast<std::int64_t>(embedding->shape[0]));
  if (const Tensor* const types = origin.table(Role::token_types); types != nullptr && types->shape.rank() == 2)
    keys.set("type_vocab_size", static_cast<std::int64_t>(types->shape[0]));
  for (const auto& [name, value] : llama_cpp_assumptions(origin.family, origin.model.config)) keys.set(name, value);
  if (origin.model.config.sliding_window == 0) keys.erase("sliding_window");
  subtract_next_layers(origin, keys);
  add_layer_norm(origin, keys);
  fill_in_unstated(origin, keys, hub.type);
  add_layers(origin, keys);
  add_layer_kinds(origin, keys);
  add_mixed_layers(origin, keys);
  add_state_layers(origin, keys);
  if (origin.family.runtime.adjusts_width) keys.set("block_auto_adjust_ff_dim", false);
  add_heads(origin, keys, hub.type);
  forget_attention(origin, keys);
  add_biases(origin, keys, hub.type);
  add_qk_norms(origin, keys, hub.type);
  if (origin.keys.flag("attention.causal") == false && origin.family.runtime.bidirectional != true &&
      !origin.family.runtime.sees_all)
    keys.set("is_causal", false);
  name_window(origin, keys);
  add_rope(origin, keys);
  add_layer_sizes(origin, keys);
  add_packing(origin, keys);
  name_rope_base(keys, hub.type);
  require_sizes(origin);
  report_window(origin, hub.type);
  report_unread(origin);
  return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
}

void state_untied(Model& model) {
  const auto file = std::ranges::find(model.attachments, std::string_view("config.json"), &Attachment::name);
  if (file == model.attachments.end()) return;
  const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
  const std::string_view text = as_text(bytes);
  resources::parse_small_json(text);
  constexpr std::string_view kTied = "tie_word_embeddings";
  std::vector<wire::JsonEdit> edits;
  const std::size_t top = text.find('{');
  const auto members = wire::json_members(text, top);
  const auto restate = [&](const std::vector<wire::JsonMember>& object) {
    for (const wire::JsonMember& member : object)
      if (member.key == kTied) edits.push_back({member.value, member.end, "false"});
  };
  restate(members);
  for (const wire::JsonMember& member : members)
    if (member.key == "text_config") restate(wire::json_members(text, member.value));
  // Without the key, the default of the model_type would count.
  const std::string added = fmt::format("\n  \"{}\": false{}", kTied, members.empty() ? "" : ",");
  if (edits.empty()) edits.push_back({top + 1, top + 1, added});
  file->blob = Blob::memory(to_bytes(wire::edited_json(text, std::move(edits))));
}

}  // namespace tare::gguf::llama_cpp
