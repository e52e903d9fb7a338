#include "resources/layer_sizes.hpp"

#include <algorithm>
#include <charconv>

#include "base/budget.hpp"
#include "base/whole.hpp"
#include "resources/json_file.hpp"

namespace tare::resources {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 61;

std::optional<std::int64_t> stated_whole(const Value* value) {
  const auto number = value == nullptr ? std::nullopt : number_of(*value);
  return number ? std::optional(whole_part(*number)) : std::nullopt;
}

// What config.json states for one layer: an object of its own, whose key is the layer, with or without leading zeros.
std::optional<std::int64_t> stated_for(const Map& layers, std::size_t layer, std::string_view key) {
  for (const auto& [name, value] : layers) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    const Map* const said = value.get<Map>();
    if (error == std::errc() && end == name.data() + name.size() && number == layer && said != nullptr)
      return stated_whole(said->find(key));
  }
  return std::nullopt;
}

}  // namespace

const LayerSize* LayerSizes::first(bool has_window) const {
  const auto found = std::ranges::find(layers, has_window, &LayerSize::has_window);
  return found == layers.end() ? nullptr : &*found;
}

LayerSizes layer_sizes(const arch::Family& family, const ConfigFile& file, const Config& config) {
  const arch::Runtime& runtime = family.runtime;
  LayerSizes sizes;
  if (file.empty() || (!runtime.has_two_kinds_of_heads && !runtime.lists_networks && !runtime.shares_keys))
    return sizes;
  const std::int64_t count = std::max<std::int64_t>(config.num_hidden_layers.value_or(0), 0);
  require_count(static_cast<std::uint64_t>(count), "layers");
  const Value *const types = file.find("layer_types"), *const own = file.find("per_layer_config"),
                     *const rows = file.find("intermediate_size"), *const wide = file.find("use_double_wide_mlp"),
                     *const same = file.find("attention_k_eq_v");
  const List *const words = types == nullptr ? nullptr : types->get<List>(), *const listed = rows == nullptr
                                                                                                 ? nullptr
                                                                                                 : rows->get<List>();
  const Map* const by_layer = own == nullptr ? nullptr : own->get<Map>();
  const bool widens = runtime.has_two_kinds_of_heads && wide != nullptr && *wide == true;
  sizes.lists_rows = widens || listed != nullptr;
  // At least one layer has keys of its own: a number that leaves none is ignored.
  const std::int64_t said = runtime.shares_keys ? whole_part(file.number("num_kv_shared_layers").value_or(0)) : 0;
  const std::int64_t shared = said < count ? said : 0;
  const auto usual_head = stated_whole(file.find("head_dim")), full_head = stated_whole(file.find("global_head_dim")),
             usual_keys = stated_whole(file.find("num_key_value_heads")),
             full_keys = stated_whole(file.find("num_global_key_value_heads"));
  // All layers of a kind have what the first of them has.
  std::optional<std::int64_t> stated_head, stated_keys;
  for (std::size_t at = 0; std::cmp_less(at, count); ++at) {
    LayerSize layer;
    layer.has_window = words != nullptr && at < words->size()
                           ? (*words)[at] == Value("sliding_attention")
                           : static_cast<std::int64_t>(at + 1) % std::max<std::int64_t>(runtime.window_period, 1) != 0;
    const bool full = runtime.has_two_kinds_of_heads && !layer.has_window;
    if (full && by_layer != nullptr && sizes.first(false) == nullptr) {
      stated_head = stated_for(*by_layer, at, "head_dim");
      stated_keys = stated_for(*by_layer, at, "num_key_value_heads");
    }
    const auto head = full_head ? full_head : stated_head, keys = full_keys ? full_keys : stated_keys;
    layer.head = full && head ? head : usual_head;
    layer.keys = full && keys ? keys : usual_keys;
    sizes.states_keys = sizes.states_keys || (full && keys);
    layer.rows = listed == nullptr     ? stated_whole(rows)
                 : at < listed->size() ? stated_whole(&(*listed)[at])
                                       : std::nullopt;
    layer.has_keys = static_cast<std::int64_t>(at) < count - shared;
    layer.has_values = layer.has_keys && !(full && same != nullptr && *same == true);
    // A size that cannot be doubled is that of no tensor.
    if (widens && !layer.has_keys && layer.rows)
      layer.rows = *layer.rows <= kMostRows ? std::optional(2 * *layer.rows) : std::nullopt;
    sizes.layers.push_back(layer);
  }
  return sizes;
}

}  // namespace tare::resources
