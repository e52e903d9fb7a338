#include "arch/expected.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"

namespace tare::arch {
bool is_described(const Family& family, Role role) {
  switch (role) {
    case Role::q:
    case Role::o: return !family.runtime.has_latent_attention;
    case Role::stacked_gate_up:
    case Role::stacked_down:
    case Role::router_bias:
    case Role::layer_table:
    case Role::layer_mix:
    case Role::layer_mix_norm:
    case Role::streams_in:
    case Role::streams_out:
    case Role::stream_in:
    case Role::stream_out:
    case Role::classifier:
    case Role::classifier_norm:
    case Role::classifier_out:
    case Role::classifier_alone:
    case Role::decoder_final_norm: return false;
    // Some layers have experts next to their network, and some models none.
    case Role::router: return !family.runtime.has_two_kinds_of_heads;
    // There may be a gate, with which the other has another name.
    case Role::gate:
    case Role::up: return family.runtime.activation != Activation::relu_or_gated_gelu;
    case Role::token_types:
    case Role::activation_negative:
    case Role::activation_positive: return true;
    case Role::state_in:
    case Role::state_mix:
    case Role::state_step:
    case Role::state_step_bias:
    case Role::state_rate:
    case Role::state_skip:
    case Role::state_norm:
    case Role::state_convolution:
    case Role::state_out: return family.runtime.state.empty();
    default: return role < Role::q_compress || role == Role::other;
  }
}

namespace {

using Size = std::optional<std::uint64_t>;

Size count_in(const std::optional<std::int64_t>& field) {
  return field && *field > 0 ? Size(static_cast<std::uint64_t>(*field)) : std::nullopt;
}
Size product(const Size& a, const Size& b) { return a && b ? checked_mul(*a, *b) : std::nullopt; }
Size sum(const Size& a, const Size& b) { return a && b ? checked_add(*a, *b) : std::nullopt; }

bool is_of_state(Role role) { return role >= Role::state_step && role <= Role::state_skip; }

// Returns whether a layer whose kind is known has such tensors.
bool is_of_kind(Role role, std::uint64_t layer, const Sizes& sizes) {
  if (layer >= sizes.kinds.size()) return false;
  const LayerKind kind = sizes.kinds[static_cast<std::size_t>(layer)];
  if (is_of_state(role)) return kind == LayerKind::state;
  if (role >= Role::q && role <= Role::qkv) return kind == LayerKind::attention;
  if (role >= Role::gate && role <= Role::gate_up) return kind == LayerKind::network;
  if (role >= Role::router && role <= Role::shared_down) return kind == LayerKind::experts;
  return true;
}

// The shape of a tensor of a state. Its own sizes are not known here.
std::vector<Size> state_shape(Role role, const Family& family, const Sizes& sizes) {
  const Size any;
  switch (role) {
    case Role::state_in: return {any, sizes.hidden};
    case Role::state_out: return {sizes.hidden, any};
    case Role::state_mix:
    case Role::state_step: return {any, any};
    case Role::state_convolution: return {any, 1, any};
    // One number for each head, or for each channel and element.
    case Role::state_rate:
      return find_step(family, role, Verb::reshape) != nullptr ? std::vector{any} : std::vector{any, any};
    default: return {any};
  }
}

// The shape of the weight with this role; empty: none is expected. `experts`: the layer has experts.
std::vector<Size> shape_of(Role role, const Family& family, const Sizes& sizes, bool experts,
                           const SizesOfLayer& here) {
  const bool fused = spell(family, Dialect::hugging_face, {.role = Role::qkv, .layer = 0}).has_value();
  if (fused && (role == Role::q || role == Role::k || role == Role::v)) return {};
  if (!is_described(family, role)) return {};
  if (is_of_state(role)) return state_shape(role, family, sizes);
  if (!here.has_keys && (role == Role::k || role == Role::v || role == Role::k_norm)) return {};
  if (!here.has_values && role == Role::v) return {};
  const Size queries = product(sizes.heads, here.head), keys = product(here.kv_heads, here.head);
  switch (role) {
    case Role::token_embedding: return {sizes.vocabulary, sizes.hidden};
    case Role::output_head: return sizes.has_head ? std::vector{sizes.vocabulary, sizes.hidden} : std::vector<Size>();
    case Role::activation_negative:
    case Role::activation_positive: return {1};
    case Role::position_embedding:
    case Role::token_types: return {std::nullopt, sizes.hidden};
    case Role::final_norm:
    case Role::table_norm:
    case Role::attention_norm:
    case Role::ffn_norm:
    case Role::post_attention_norm:
    case Role::post_ffn_norm: return {sizes.hidden};
    case Role::q: return {product(queries, family.runtime.gates_queries ? 2 : 1), sizes.hidden};
    case Role::k:
    case Role::v: return {keys, sizes.hidden};
    case Role::o: return {sizes.hidden, queries};
    case Role::qkv: return {sum(queries, product(keys, 2)), sizes.hidden};
    case Role::q_norm:
    case Role::k_norm:
      if (!sizes.has_qk_norms) return {};
      break;
    default: break;
  }
  switch (role) {
    case Role::q_norm: return {family.wide_qk_norms ? queries : here.head};
    case Role::k_norm: return {family.wide_qk_norms ? keys : here.head};
    default: break;
  }
  const Size columns = sizes.expert_columns ? sizes.expert_columns : sizes.hidden;
  if (experts) switch (role) {
      case Role::router: return {sizes.experts, sizes.hidden};
      case Role::expert_gate:
      case Role::expert_up: return {sizes.expert_rows, columns};
      case Role::expert_down: return {columns, sizes.expert_rows};
      case Role::shared_router: return {1, sizes.hidden};
      case Role::shared_gate:
      case Role::shared_up: return {sizes.shared_rows, sizes.hidden};
      case Role::shared_down: return {sizes.hidden, sizes.shared_rows};
      default: return {};
    }
  switch (role) {
    case Role::gate:
    case Role::up: return {here.intermediate, sizes.hidden};
    case Role::down: return {sizes.hidden, here.intermediate};
    case Role::gate_up: return {product(here.intermediate, 2), sizes.hidden};
    default: return {};
  }
}

// Visits the tensors of a layer, or those outside all layers. Returns false if `visit` did.
bool visit_part(const Family& family, const Sizes& sizes, std::optional<std::uint32_t> layer,
                const std::function<bool(const Expected&)>& visit) {
  const bool experts = layer && sizes.has_experts(*layer);
  const SizesOfLayer here = sizes.at(layer);
  for (const Patterns patterns : family.names)
    for (const Pattern& pattern : patterns) {
      const bool inside = pattern.hugging_face.find("{L}") != std::string_view::npos;
      const bool expert = pattern.hugging_face.find("{E}") != std::string_view::npos;
      std::vector<Size> shape =
          pattern.hugging_face.empty() ? std::vector<Size>() : shape_of(pattern.role, family, sizes, experts, here);
      if (shape.empty() || inside != layer.has_value()) continue;
      if (layer == 0U && family.runtime.first_lacks_norm && pattern.role == Role::attention_norm) continue;
      if (layer && !sizes.kinds.empty() && !is_of_kind(pattern.role, *layer, sizes)) continue;
      if (layer && is_of_attention(pattern.role) && sizes.without_attention.contains(*layer)) continue;
      if (layer && is_of_state(pattern.role) && !family.runtime.only_states && sizes.kinds.empty() &&
          !sizes.without_attention.contains(*layer))
        continue;
      const Size rows = shape.front();
      if (shape.size() == 2 && std::ranges::find(pattern.steps, Verb::transpose, &Step::verb) != pattern.steps.end())
        std::swap(shape[0], shape[1]);
      Expected expected{.name = {.role = pattern.role, .layer = layer}, .shape = std::move(shape), .experts = {}};
      if (expert) {
        expected.name.expert = 0;
        expected.experts = sizes.experts.value_or(1);
      }
      if (!visit(expected)) return false;
      if (!sizes.biased.contains(pattern.role)) continue;
      expected.name.suffix = Suffix::bias;
      expected.shape = {rows};
      if (!visit(expected)) return false;
    }
  return true;
}

}  // namespace

Sizes sizes_of(const Family& family, const Config& config) {
  Sizes sizes;
  sizes.vocabulary = count_in(config.vocab_size);
  sizes.hidden = count_in(config.hidden_size);
  sizes.intermediate = count_in(config.intermediate_size);
  sizes.layers = count_in(config.num_hidden_layers);
  sizes.heads = count_in(config.num_attention_heads);
  sizes.kv_heads = count_in(config.num_key_value_heads);
  sizes.head = count_in(config.head_dim);
  if (!sizes.head && !family.own_head_size && sizes.hidden && sizes.heads) sizes.head = *sizes.hidden / *sizes.heads;
  return sizes;
}

void assume_widening(const Family& family, Config& config) {
  const std::int64_t hidden = config.hidden_size.value_or(0), times = family.runtime.usual_widening;
  if (times > 0 && !config.intermediate_size && hidden > 0 && hidden <= INT32_MAX)
    config.intermediate_size = hidden * times;
}

std::int64_t adjusted_width(double size, std::optional<double> multiplier, double multiple) {
  constexpr double kMost = 1 << 30;
  double width = std::floor(2 * std::clamp(size, 0.0, kMost) / 3);
  if (multiplier) width = std::floor(std::clamp(*multiplier, 0.0, kMost) * width);
  const double step = std::clamp(std::floor(multiple), 1.0, kMost);
  return static_cast<std::int64_t>(std::min(step * std::ceil(width / step), kMost));
}

SizesOfLayer Sizes::at(std::optional<std::uint64_t> layer) const {
  if (layer && *layer < of_layers.size()) return of_layers[static_cast<std::size_t>(*layer)];
  return {kv_heads, head, intermediate};
}

bool Sizes::has_experts(std::uint64_t layer) const {
  if (!kinds.empty()) return layer < kinds.size() && kinds[static_cast<std::size_t>(layer)] == LayerKind::experts;
  return mixture && layer >= leading_plain && sparse_step != 0 && (layer + 1) % sparse_step == 0 &&
         !plain_layers.contains(layer);
}

bool Expected::fits(const Shape& found) const {
  return std::ranges::equal(found, shape,
                            [](std::uint64_t size, const Size& wanted) { return !wanted || *wanted == size; });
}

std::string Expected::shape_text() const {
  std::vector<std::string> sizes;
  for (const Size& size : shape) sizes.push_back(size ? fmt::format("{}", *size) : "?");
  return fmt::format("{}", fmt::join(sizes, "x"));
}

void for_each_expected(const Family& family, const Sizes& sizes, const std::function<bool(const Expected&)>& visit) {
  if (!visit_part(family, sizes, std::nullopt, visit)) return;
  for (std::uint64_t layer = 0; layer < std::min<std::uint64_t>(sizes.layers.value_or(0), UINT32_MAX); ++layer)
    if (!visit_part(family, sizes, static_cast<std::uint32_t>(layer), visit)) return;
}

}  // namespace tare::arch
