#include "formats/gguf/llama_cpp/by_layer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include "base/whole.hpp"
#include "resources/json_file.hpp"
#include "tare/elements.hpp"

namespace tare::gguf::llama_cpp {
namespace {

constexpr std::string_view kSparsity = "activation_sparsity_scale";

// The inverse of the error function, by Newton's method.
double inverse_erf(double y) {
  if (std::fabs(y) >= 1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  constexpr double kShape = 0.147;
  const double log = std::log(1 - y * y), half = 2 / (std::numbers::pi * kShape) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / kShape) - half), y);
  for (int step = 0; step < 4; ++step) x -= (std::erf(x) - y) / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
  return x;
}

const List* list_of(const Origin& origin, std::string_view key) {
  const Value* const found = origin.keys.find(key);
  return found == nullptr ? nullptr : found->get<List>();
}

std::optional<std::int64_t> whole_at(const List& list, std::size_t at) {
  const auto number = at < list.size() ? resources::number_of(list[at]) : std::nullopt;
  return number ? std::optional(whole_part(*number)) : std::nullopt;
}

// The layers that have the matrix for values, and those that have any.
std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>> layers_with_values(const Origin& origin) {
  std::set<std::uint32_t> values, keys;
  for (const Tensor& tensor : origin.model.tensors)
    if (const auto name = arch::parse(origin.family, arch::Dialect::gguf, tensor.name); name && name->layer) {
      if (name->role == arch::Role::v) values.insert(*name->layer);
      if (name->role == arch::Role::k) keys.insert(*name->layer);
    }
  return {std::move(values), std::move(keys)};
}

void add_two_kinds_of_heads(const Origin& origin, Map& keys) {
  if (!origin.family.runtime.has_two_kinds_of_heads) return;
  const std::int64_t full = origin.model.config.head_dim.value_or(0);
  keys.set("head_dim", whole_part(origin.number("attention.key_length_swa").value_or(static_cast<double>(full))));
  keys.set("global_head_dim", full);
  origin.keys.ignore("attention.value_length_swa");
  origin.keys.ignore("rope.dimension_count");
  origin.keys.ignore("rope.dimension_count_swa");
  const Value* const types = keys.find("layer_types");
  const List* const words = types == nullptr ? nullptr : types->get<List>();
  const List* const heads = list_of(origin, arch::kKeyHeads);
  const auto [values, any] = layers_with_values(origin);
  bool same = false;
  for (std::size_t layer = 0; words != nullptr && layer < words->size(); ++layer) {
    const bool window = (*words)[layer] == Value("sliding_attention");
    const auto at = static_cast<std::uint32_t>(layer);
    same = same || (!window && any.contains(at) && !values.contains(at));
    if (const auto count = heads == nullptr ? std::nullopt : whole_at(*heads, layer))
      keys.set(window ? "num_key_value_heads" : "num_global_key_value_heads", *count);
  }
  keys.set("attention_k_eq_v", same);
  keys.set("enable_moe_block", origin.number("expert_count").value_or(0) > 0);
}

void add_networks(const Origin& origin, Map& keys) {
  const List* const rows = list_of(origin, kNetworkRows);
  if (!origin.family.runtime.lists_networks || rows == nullptr || rows->empty()) return;
  if (!origin.family.runtime.has_two_kinds_of_heads) return keys.set("intermediate_size", *rows);
  keys.set("intermediate_size", whole_at(*rows, 0).value_or(0));
  keys.set("use_double_wide_mlp", rows->front() != rows->back());
}

void add_sparsity(const Origin& origin, Map& keys) {
  if (!origin.family.runtime.has_sparse_networks) return;
  const Value* const found = origin.keys.find(kSparsity);
  const List* const scales = found == nullptr ? nullptr : found->get<List>();
  if (found != nullptr && scales == nullptr) throw origin.keys.refused(kSparsity, *found, "a list of numbers");
  if (scales == nullptr) return;
  List parts;
  for (const Value& scale : *scales) parts.emplace_back(part_below(resources::number_of(scale).value_or(0)));
  keys.set("activation_sparsity_pattern", std::move(parts));
}

// Sizes that only tensors have.
void add_tables(const Origin& origin, Map& keys) {
  if (!origin.family.runtime.shares_keys) return;
  const Tensor* const table = origin.table(arch::Role::layer_table);
  const Tensor* const tokens = table != nullptr ? table : origin.table(arch::Role::token_embedding);
  if (tokens != nullptr && tokens->shape.rank() == 2)
    keys.set("vocab_size_per_layer_input", static_cast<std::int64_t>(tokens->shape[0]));
  const auto name = arch::spell(origin.family, arch::Dialect::gguf, {.role = arch::Role::low_rank_down, .layer = 0});
  const Tensor* const low = name ? origin.model.tensor(*name) : nullptr;
  if (low != nullptr && low->shape.rank() == 2) keys.set("laurel_rank", static_cast<std::int64_t>(low->shape[0]));
}

// T5: config.json has a key for whether networks have gates.
void add_decoder(const Origin& origin, Map& keys) {
  if (origin.family.runtime.activation != arch::Activation::relu_or_gated_gelu) return;
  const auto gate = arch::spell(origin.family, arch::Dialect::gguf, {.role = arch::Role::gate, .layer = 0});
  keys.set("feed_forward_proj", gate && origin.model.tensor(*gate) != nullptr ? "gated-gelu" : "relu");
  keys.set("is_encoder_decoder", origin.family.runtime.has_decoder);
}

}  // namespace

void take_first_network(Config& config, const arch::Family& family, const ConfigFile& file) {
  const Value* const rows = family.runtime.lists_networks ? file.find("intermediate_size") : nullptr;
  const List* const list = rows == nullptr ? nullptr : rows->get<List>();
  if (list == nullptr) return;
  if (const auto first = whole_at(*list, 0)) config.intermediate_size = *first;
}

bool take_listed(std::optional<std::int64_t>& field, std::string_view own_name, const arch::Family& family,
                 const Value& value) {
  const bool may = (own_name == arch::kKeyHeads && family.runtime.has_two_kinds_of_heads) ||
                   (own_name == kNetworkRows && family.runtime.lists_networks);
  const List* const list = may ? value.get<List>() : nullptr;
  if (list == nullptr || list->empty()) return false;
  for (const Value& item : *list) {
    const auto* const number = item.get<std::int64_t>();
    if (number == nullptr || *number <= 0) return false;
  }
  field = *list->front().get<std::int64_t>();
  return true;
}

float quantile(double part) {
  const float inner = 2 * static_cast<float>(part) - 1;
  return static_cast<float>(inverse_erf(inner)) * static_cast<float>(std::numbers::sqrt2);
}

double part_below(double quantile) {
  constexpr double kDigits = 1e6;
  return std::round(kDigits * (1 + std::erf(quantile / std::numbers::sqrt2)) / 2) / kDigits;
}

List stated_classes(const ConfigFile& file) {
  const Value* const found = file.find("id2label");
  const Map* const names = found == nullptr ? nullptr : found->get<Map>();
  std::map<std::int64_t, std::string> sorted;
  for (const auto& [id, name] : names == nullptr ? Map() : *names) {
    constexpr std::size_t kMostDigits = 9;
    if (name.text() == nullptr || id.empty() || id.size() > kMostDigits ||
        id.find_first_not_of("0123456789") != id.npos)
      return {};
    sorted.emplace(std::stoll(id), *name.text());
  }
  if (sorted.size() == 2 && sorted.begin()->second == "LABEL_0") return {};
  List labels;
  for (const auto& [id, name] : sorted) labels.emplace_back(name);
  return labels;
}

void add_layer_sizes(const Origin& origin, Map& keys) {
  add_two_kinds_of_heads(origin, keys);
  add_networks(origin, keys);
  add_sparsity(origin, keys);
  add_tables(origin, keys);
  add_decoder(origin, keys);
}

void add_proportional_rope(const Origin& origin, Map& keys) {
  const double theta = origin.model.config.rope_theta.value_or(1000000);
  const Tensor* const divisors = origin.table(arch::Role::rope_factors);
  double part = 1;
  if (divisors != nullptr && divisors->shape.elements().value_or(0) > 0) {
    const std::vector<float> values = divisors->values<float>();
    part = static_cast<double>(std::ranges::count(values, 1.0F)) / static_cast<double>(values.size());
  }
  Map full, sliding, both;
  full.append("rope_type", "proportional");
  full.append("rope_theta", theta);
  full.append("partial_rotary_factor", part);
  sliding.append("rope_type", "default");
  sliding.append("rope_theta", origin.number("rope.freq_base_swa").value_or(10000));
  both.append("full_attention", std::move(full));
  both.append("sliding_attention", std::move(sliding));
  keys.set("rope_parameters", std::move(both));
  keys.erase("rope_theta");
}

}  // namespace tare::gguf::llama_cpp
