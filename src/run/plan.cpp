#include "run/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/compute_facts.hpp"
#include "arch/expected.hpp"
#include "arch/model_classes.hpp"
#include "arch/names.hpp"
#include "base/budget.hpp"
#include "base/checked.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "convert/configured.hpp"
#include "convert/directory_form.hpp"
#include "resources/config_file.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "run/room.hpp"
#include "run/settings.hpp"
#include "run/tensors.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "wire/value_json.hpp"

namespace tare::run {
namespace {

using arch::Dialect;
using arch::Role;
using arch::Suffix;

class Planner {
 public:
  // `stored`: the model's tensors before they got their names of a directory.
  Planner(const Model& model, const std::vector<Tensor>& stored, const Map& json, const arch::Family& family,
          const arch::ComputeFacts& facts)
      : family_(family), runtime_(family.runtime), facts_(facts), file_(json), tensors_(model, stored, family) {
    plan_.family = &family;
    for (const SourcePtr& source : model.sources) plan_.file_bytes += source->size();
    if (model.sources.empty())
      for (const Tensor& tensor : model.tensors) plan_.file_bytes += tensor.bytes();
    fields_ = resources::parse_config(to_json(Value(json)));
    resources::assume_fields(fields_, file_);
    require_kinds(json, file_.model_type());
    sizes_ = arch::Sizes(configured_sizes(family, json));
  }

  Plan run() {
    if (!tensors_.has_names())
      throw refused_config("run.family",
                           fmt::format("it describes a model of the type {}, but no tensor has one of its names",
                                       quote(file_.model_type())));
    take_sizes();
    take_numbers();
    take_ropes();
    take_ends();
    std::vector<bool> windows = layers_with_window();
    for (std::uint32_t layer = 0; layer < *sizes_.layers; ++layer) take_layer(layer, windows[layer]);
    tensors_.require_complete();
    require_room(plan_);
    return std::move(plan_);
  }

 private:
  void take_sizes() {
    std::vector<std::string_view> missing;
    const auto take = [&](const std::optional<std::uint64_t>& size, std::string_view name) {
      if (!size || *size == 0) missing.push_back(name);
      return size.value_or(0);
    };
    plan_.vocabulary = take(sizes_.vocabulary, "vocab_size");
    plan_.hidden = take(sizes_.hidden, "hidden_size");
    if (!runtime_.has_only_experts) plan_.intermediate = take(sizes_.intermediate, "intermediate_size");
    plan_.heads = take(sizes_.heads, "num_attention_heads");
    plan_.kv_heads = take(sizes_.kv_heads, "num_key_value_heads");
    if (runtime_.has_latent_attention) {
      plan_.unrotated = take(count_of("qk_nope_head_dim"), "qk_nope_head_dim");
      plan_.head = plan_.unrotated + take(count_of("qk_rope_head_dim"), "qk_rope_head_dim");
      plan_.value_head = take(count_of("v_head_dim"), "v_head_dim");
      plan_.latent = take(count_of("kv_lora_rank"), "kv_lora_rank");
      plan_.query_latent = count_of("q_lora_rank").value_or(0);
      plan_.kv_heads = plan_.heads;
    } else {
      plan_.head = plan_.value_head = take(sizes_.head, "head_dim");
    }
    take(sizes_.layers, "num_hidden_layers");
    if (sizes_.mixture) {
      plan_.routing.experts = take(sizes_.experts, "num_experts");
      plan_.expert_rows = take(sizes_.expert_rows, "moe_intermediate_size");
      if (const arch::KeyRow* const row = runtime_.row("expert_shared_count"))
        plan_.shared_rows = shared_experts(row->from[0], missing) * plan_.expert_rows;
      else if (tensors_.knows(Role::shared_gate))
        plan_.shared_rows = take(sizes_.shared_rows, "shared_expert_intermediate_size");
      const std::string_view used = key_of("expert_used_count", "num_experts_per_tok");
      plan_.routing.used = count_of(used).value_or(0);
      if (plan_.routing.used == 0 || plan_.routing.used > plan_.routing.experts) missing.push_back(used);
    }
    take_state_sizes(missing);
    if (!missing.empty())
      throw refused_config(
          "run.config",
          fmt::format("expected whole numbers above 0, and no more experts in use than there are, for {}",
                      fmt::join(missing, ", ")),
          ErrorKind::corrupt);
    if (plan_.heads % plan_.kv_heads != 0)
      throw refused_config(
          "run.config",
          fmt::format("{} heads cannot share {} heads of keys and values evenly", plan_.heads, plan_.kv_heads),
          ErrorKind::corrupt);
    // Sizes that no tensor can have would overflow sums below.
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    const auto queries = checked_mul(plan_.heads, plan_.head), values = checked_mul(plan_.heads, plan_.value_head);
    for (const std::uint64_t size :
         {plan_.vocabulary, plan_.hidden, plan_.intermediate, queries.value_or(kMost + 1), values.value_or(kMost + 1),
          plan_.latent, plan_.query_latent, sizes_.experts.value_or(0), plan_.expert_rows, plan_.shared_rows,
          plan_.state.key, plan_.state.value, plan_.state.key_heads, plan_.state.value_heads, plan_.state.kernel,
          checked_mul(plan_.state.key_heads, plan_.state.key).value_or(kMost + 1),
          checked_mul(plan_.state.value_heads, plan_.state.value).value_or(kMost + 1)})
      if (size > kMost)
        throw refused_config("run.config", fmt::format("a size is {}, at most {} is possible", size, kMost),
                             ErrorKind::corrupt);
    require_count(*sizes_.layers, "layers");
    require_count(plan_.heads, "heads");
    require_count(plan_.state.value_heads, "heads of states");
    require_count(sizes_.mixture ? checked_mul(*sizes_.layers, *sizes_.experts).value_or(UINT64_MAX) : 0, "experts");
    plan_.context = static_cast<std::uint64_t>(std::max<std::int64_t>(0, fields_.max_position_embeddings.value_or(0)));
  }

  // The name in config.json of what GGUF calls `key`.
  std::string_view key_of(std::string_view key, std::string_view otherwise) const {
    const arch::KeyRow* const row = runtime_.row(key);
    return row == nullptr || row->from[0].empty() ? otherwise : row->from[0];
  }

  void take_state_sizes(std::vector<std::string_view>& missing) {
    if (sizes_.without_attention.empty()) return;
    StateSizes& state = plan_.state;
    const auto take = [&](std::string_view name) {
      const std::uint64_t size = count_of(name).value_or(0);
      if (size == 0) missing.push_back(name);
      return size;
    };
    if (runtime_.state.empty()) {
      state.kernel = take(key_of("shortconv.l_cache", "conv_L_cache"));
      if (flag("conv_bias")) throw refused_config("run.setting", "conv_bias is true, which is not computed here");
      // Any division of the features.
      state.value = 1;
      for (std::uint64_t size = 2; size <= 64; ++size)
        if (plan_.hidden % size == 0) state.value = size;
      state.key_heads = state.value_heads = plan_.hidden / state.value;
      return;
    }
    state.kernel = take(key_of("ssm.conv_kernel", "linear_conv_kernel_dim"));
    state.key_heads = take(key_of("ssm.group_count", "linear_num_key_heads"));
    state.value_heads = take(key_of("ssm.time_step_rank", "linear_num_value_heads"));
    state.key = take(key_of("ssm.state_size", "linear_key_head_dim"));
    state.value = take(key_of("ssm.inner_size", "linear_value_head_dim"));
    if (state.key_heads != 0 && state.value_heads % state.key_heads != 0)
      throw refused_config(
          "run.config",
          fmt::format("{} heads of values cannot share {} heads of keys evenly", state.value_heads, state.key_heads),
          ErrorKind::corrupt);
  }

  // A whole number in config.json; nothing if it is beyond any real count.
  std::optional<std::uint64_t> count_of(std::string_view key) const {
    const Value* const found = file_.find(key);
    const auto count = found == nullptr ? std::nullopt : resources::count_of(*found);
    return count && *count <= std::uint64_t{1} << 31 ? count : std::nullopt;
  }

  // How many experts process every token, which may be none. They are one network, as wide as all of them together.
  std::uint64_t shared_experts(std::string_view key, std::vector<std::string_view>& missing) const {
    const auto shared = count_of(key);
    if (file_.find(key) != nullptr && !shared) missing.push_back(key);
    return shared.value_or(0);
  }

  float positive(std::string_view key, double usual) const {
    const double found = file_.number(key).value_or(usual);
    if (!(found > 0) || !std::isfinite(found))
      throw refused_config("run.config", fmt::format("{} is {}, expected a number above 0", key, found),
                           ErrorKind::corrupt);
    return static_cast<float>(found);
  }

  void take_numbers() {
    const double head = static_cast<double>(plan_.head), hidden = static_cast<double>(plan_.hidden);
    if (runtime_.bidirectional == true || flag("use_bidirectional_attention"))
      throw refused_config("run.family", "its attention looks at the tokens that follow, too, so it predicts none");
    if (const Value* const causal = file_.find("is_causal"); causal != nullptr && *causal == false)
      throw refused_config("run.family", "its attention looks at the tokens that follow, too, so it predicts none");
    const bool has_layer_norms = runtime_.layer_norm_epsilon != 0 || !runtime_.layer_norm_key.empty();
    plan_.norms_first = tensors_.knows(Role::attention_norm) || runtime_.layer_norm_epsilon != 0;
    plan_.norms_after = tensors_.knows(Role::post_attention_norm);
    plan_.wide_qk_norms = family_.wide_qk_norms;
    plan_.norms_after_rotation = facts_.norms_after_rotation, plan_.clamps_after_norm = facts_.clamps_after_norm;
    plan_.parallel =
        facts_.is_parallel || (runtime_.row("use_parallel_residual") != nullptr && flag("use_parallel_residual"));
    plan_.norm = has_layer_norms ? Norm::layer : Norm::rms;
    const std::string_view epsilon = runtime_.layer_norm_key.empty() ? "norm_eps" : runtime_.layer_norm_key;
    if (runtime_.layer_norm_epsilon != 0)
      plan_.epsilon = static_cast<float>(runtime_.layer_norm_epsilon);
    else if (!has_layer_norms && fields_.rms_norm_eps)
      plan_.epsilon = static_cast<float>(*fields_.rms_norm_eps);
    else
      plan_.epsilon = static_cast<float>(file_.number(epsilon).value_or(1e-5));
    plan_.attention_scale = static_cast<float>(1 / std::sqrt(head));
    if (facts_.scales_embeddings) plan_.embedding_scale = static_cast<float>(std::sqrt(hidden));
    if (runtime_.row("residual_scale") != nullptr) {
      plan_.embedding_scale = positive("embedding_multiplier", 1);
      plan_.residual_scale = positive("residual_multiplier", 1);
      plan_.attention_scale = positive("attention_multiplier", 1);
      plan_.output_divisor = positive("logits_scaling", 1);
    }
    if (key_of("logit_scale", "") == "logit_scale") plan_.output_divisor = 1 / positive("logit_scale", 1);
    if (runtime_.layers_of_largest)
      plan_.attention_scale =
          static_cast<float>(1 / std::sqrt(static_cast<double>(positive("query_pre_attn_scalar", head))));
    if (runtime_.row("attn_logit_softcapping") != nullptr) {
      plan_.attention_cap = static_cast<float>(file_.number("attn_logit_softcapping").value_or(0));
      plan_.output_cap = static_cast<float>(file_.number("final_logit_softcapping").value_or(0));
    }
    if (runtime_.row("attention.clamp_kqv") != nullptr || facts_.clamps_after_norm)
      plan_.most = static_cast<float>(file_.number("clip_qkv").value_or(0));
    plan_.latent_epsilon = static_cast<float>(facts_.latent_epsilon);
    plan_.rotates_neighbours = facts_.rotates_neighbours;
    if (const Value* const turns = file_.find("rope_interleave"); turns != nullptr && *turns == false)
      plan_.rotates_neighbours = false;
    plan_.activation = activation();
    refuse_other_steps();
    if (facts_.clamps_gate) {
      plan_.gate_sharpness = positive("swiglu_alpha", 1);
      plan_.gate_limit = positive("swiglu_limit", 1);
    }
    if (sizes_.mixture) take_routing();
  }

  // What a key of the class may ask for and nothing here computes.
  void refuse_other_steps() const {
    for (const arch::Required& one : facts_.required)
      if (const Value* const found = file_.find(one.key);
          !one.key.empty() && found != nullptr && *found != Value(one.value))
        throw refused_config("run.setting",
                             fmt::format("{} is not {}, and nothing else is computed here", one.key, one.value));
    if (plan_.squares && tensors_.knows(Role::gate))
      throw refused_config("run.setting", "the activation is \"relu2\", which is not known here with a gate");
    if (!runtime_.state.empty() && plan_.activation != Gate::silu)
      throw refused_config("run.setting", "the activation is not \"silu\", which is not known here with states");
  }

  void take_routing() {
    Routing& routing = plan_.routing;
    routing.scores = facts_.router;
    routing.best_of_group = facts_.best_of_group;
    // Without a key, the weights of the chosen experts are always normalized.
    const bool stated = runtime_.normalizes_experts.has_value() || runtime_.row("expert_weights_norm") != nullptr;
    routing.normalizes = !stated || flag(key_of("expert_weights_norm", "norm_topk_prob"));
    // transformers ignores it, the authors' own class does not scale then, and llama.cpp does both.
    if (plan_.latent != 0 && routing.scores == arch::RouterScores::softmax && routing.normalizes)
      throw refused_config("run.setting",
                           "norm_topk_prob is true, which programs compute in different ways for such a model");
    if (const arch::KeyRow* const row = runtime_.row("expert_weights_scale"))
      routing.scale = positive(row->from[0], row->unstated.value_or(1));
    const arch::KeyRow* const groups = runtime_.row("expert_group_count");
    if (groups == nullptr || text("topk_method") == "greedy") return;
    routing.groups = count_of(groups->from[0]).value_or(1);
    routing.used_groups = count_of(runtime_.row("expert_group_used_count")->from[0]).value_or(1);
    const std::size_t members = routing.groups == 0 ? 0 : routing.experts / routing.groups;
    if (members * routing.groups != routing.experts || routing.used_groups == 0 ||
        routing.used_groups > routing.groups || members < routing.best_of_group ||
        routing.used > members * routing.used_groups)
      throw refused_config("run.config",
                           fmt::format("{} of {} experts cannot be chosen from {} of {} groups", routing.used,
                                       routing.experts, routing.used_groups, routing.groups),
                           ErrorKind::corrupt);
  }

  bool flag(std::string_view key) const {
    const Value* const found = file_.find(key);
    return found != nullptr && *found == true;
  }
  std::string text(std::string_view key) const {
    const Value* const found = file_.find(key);
    return found != nullptr && found->text() != nullptr ? *found->text() : std::string();
  }

  Gate activation() {
    std::string name;
    switch (family_.activation_key) {
      case arch::ActivationKey::hidden_act: name = fields_.hidden_act.value_or(text("activation_function")); break;
      case arch::ActivationKey::hidden_activation: name = text("hidden_activation"); break;
      case arch::ActivationKey::either:
        name = text("hidden_act");
        if (name == "gelu") name.clear();  // in these files, it has always meant the approximation
        break;
    }
    plan_.squares = name == "relu2" || (name.empty() && runtime_.activation == arch::Activation::relu_squared);
    if (plan_.squares) return Gate::relu;
    if (name.empty()) return runtime_.activation == arch::Activation::gelu_tanh ? Gate::gelu_tanh : Gate::silu;
    constexpr std::pair<std::string_view, Gate> kKnown[] = {{"silu", Gate::silu},
                                                            {"swish", Gate::silu},
                                                            {"gelu_pytorch_tanh", Gate::gelu_tanh},
                                                            {"gelu_new", Gate::gelu_tanh},
                                                            {"gelu_fast", Gate::gelu_tanh},
                                                            {"gelu_accurate", Gate::gelu_tanh},
                                                            {"gelu", Gate::gelu},
                                                            {"relu", Gate::relu}};
    const auto found = std::ranges::find(kKnown, name, &std::pair<std::string_view, Gate>::first);
    if (found == std::end(kKnown))
      throw refused_config("run.setting",
                           fmt::format("the activation is \"{}\", which is not known here", quote(name)));
    return found->second;
  }

  Rope rope_of(const Map& object) const {
    // The theta may be at the top of config.json.
    const auto number = [&](std::string_view key) {
      return number_in(object, key, key == "rope_theta" ? "" : "rope_parameters.");
    };
    const auto list = [&](std::string_view key) { return numbers_in(object, key, "rope_parameters."); };
    Rope rope;
    rope.kind = text_in(object, "rope_type", "rope_parameters.");
    if (rope.kind.empty()) rope.kind = "default";
    if (rope.kind == "su") rope.kind = "longrope";
    rope.theta = number("rope_theta").value_or(fields_.rope_theta.value_or(10000));
    rope.context = static_cast<double>(plan_.context);
    rope.factor = number("factor");
    rope.attention_factor = number("attention_factor");
    rope.beta_fast = number("beta_fast"), rope.beta_slow = number("beta_slow");
    rope.mscale = number("mscale"), rope.mscale_all = number("mscale_all_dim");
    rope.low_frequency = number("low_freq_factor"), rope.high_frequency = number("high_freq_factor");
    const Value* const truncates = object.find("truncate");
    rope.truncates = truncates == nullptr || *truncates != false;
    rope.long_factors = list("long_factor"), rope.short_factors = list("short_factor");
    if (rope.kind != "default") rope.original = number("original_max_position_embeddings").value_or(rope.context);
    if (const auto alpha = runtime_.has_alpha_base && rope.kind == "dynamic" ? number("alpha") : std::nullopt;
        alpha && *alpha > 0 && plan_.head > 2) {
      const auto head = static_cast<double>(plan_.head);
      rope.theta *= std::pow(*alpha, head / (head - 2));
      rope.kind = "default";
    }
    double part = 1;
    if (runtime_.rotates_part) {
      const arch::ModelClass& type = arch::class_of(file_.model_type());
      const auto inside = number("partial_rotary_factor");
      const auto rotated = file_.number(key_of("rope.dimension_count", "rotary_dim"));
      part = inside    ? *inside
             : rotated ? *rotated / static_cast<double>(std::max<std::uint64_t>(1, plan_.head))
                       : file_.number(type.rotated_part_key).value_or(1);
    }
    if (!(part > 0) || part > 1)
      throw refused_config("run.config", fmt::format("partial_rotary_factor is {}, expected a number in (0, 1]", part),
                           ErrorKind::corrupt);
    rope.rotated = static_cast<std::size_t>(static_cast<double>(plan_.head - plan_.unrotated) * part);
    if (std::string problem = problem_of(rope); !problem.empty())
      throw refused_config("run.setting", std::move(problem));
    return rope;
  }

  void take_ropes() {
    plan_.rope = rope_of(file_.ropes().full);
    if (plan_.latent != 0) plan_.attention_scale *= latent_stretch(plan_.rope);
    plan_.local_rope = file_.ropes().sliding.empty() ? plan_.rope : rope_of(file_.ropes().sliding);
    if (plan_.rope.kind == "dynamic")
      plan_.context = static_cast<std::uint64_t>(
          std::min(static_cast<double>(plan_.context) * std::clamp(*plan_.rope.factor, 1.0, 1e6), 0x1p53));
    const Value* const beta = file_.ropes().full.find("llama_4_scaling_beta");
    if (runtime_.has_full_yarn && beta != nullptr) {
      plan_.position_scale = static_cast<float>(resources::number_of(*beta).value_or(0));
      if (plan_.position_scale != 0 && plan_.rope.original <= 0)
        throw refused_config("run.setting", "llama_4_scaling_beta needs original_max_position_embeddings");
    }
  }

  // Which layers have a window.
  std::vector<bool> layers_with_window() {
    const auto layers = static_cast<std::size_t>(*sizes_.layers);
    std::vector<bool> windows(layers);
    const arch::ModelClass& type = arch::class_of(file_.model_type());
    const bool alternates = facts_.alternates_windows;
    const std::int64_t size = fields_.sliding_window.value_or(0);
    const bool by_period = runtime_.window_period > 0, late = runtime_.has_max_window_layers,
               unrotated = runtime_.rope_skips_every > 0, varies = by_period || late || unrotated || alternates;
    if (size <= 0 || !type.has_window) return windows;
    const Value* const types = file_.find("layer_types");
    const List* const list = !varies || types == nullptr ? nullptr : types->get<List>();
    if (list != nullptr && list->size() < layers)
      throw refused_config("run.config", fmt::format("layer_types has {} entries, expected {}", list->size(), layers),
                           ErrorKind::corrupt);
    double period = static_cast<double>(runtime_.window_period);
    if (runtime_.states_window_period) period = file_.number("sliding_window_pattern").value_or(period);
    const double first = file_.number("max_window_layers").value_or(0);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const auto at = static_cast<double>(layer);
      if (list != nullptr)
        windows[layer] = is_sliding((*list)[layer]);
      else if (by_period)
        windows[layer] = period < 1 || std::fmod(at + 1, std::floor(period)) != 0;
      else if (alternates)
        windows[layer] = layer % 2 == 0 && at < first;
      else if (late)
        windows[layer] = at >= first;
      else
        windows[layer] = !unrotated || !has_positions(layer);
    }
    return windows;
  }

  static bool is_sliding(const Value& word) {
    if (word == Value("sliding_attention")) return true;
    if (word == Value("full_attention")) return false;
    throw refused_config("run.setting", fmt::format("layer_types: {} is not known here",
                                                    word.text() == nullptr ? "what is not text" : quote(*word.text())));
  }

  bool has_positions(std::size_t layer) const {
    if (runtime_.rope_skips_every == 0) return true;
    const Value* const found = file_.find("no_rope_layers");
    if (const List* const list = found == nullptr ? nullptr : found->get<List>())
      return layer < list->size() && resources::number_of((*list)[layer]).value_or(0) != 0;
    const double every =
        file_.number("no_rope_layer_interval").value_or(static_cast<double>(runtime_.rope_skips_every));
    return every < 1 || std::fmod(static_cast<double>(layer) + 1, std::floor(every)) != 0;
  }

  void take_ends() {
    plan_.embeddings = tensors_.take({.role = Role::token_embedding}, {plan_.vocabulary, plan_.hidden});
    if (tensors_.knows(Role::position_embedding)) {
      if (plan_.context == 0)
        throw refused_config("run.config", "expected the number of positions, found none", ErrorKind::corrupt);
      plan_.positions = tensors_.take({.role = Role::position_embedding}, {plan_.context, plan_.hidden});
    }
    plan_.final_norm = tensors_.take_norm(Role::final_norm, std::nullopt, plan_.hidden);
    if (is_biased(Role::final_norm))
      plan_.final_norm_bias = tensors_.take_bias(Role::final_norm, std::nullopt, plan_.hidden);
    if (is_biased(Role::output_head))
      plan_.head_bias = tensors_.take_bias(Role::output_head, std::nullopt, plan_.vocabulary);
    // A head that is in the file counts, even if config.json ties it to the token table: transformers and the runtimes use it.
    plan_.tied = !sizes_.has_head && !tensors_.exists({.role = Role::output_head});
    plan_.head_weight =
        !plan_.tied ? tensors_.take({.role = Role::output_head}, {plan_.vocabulary, plan_.hidden}) : plan_.embeddings;
  }

  FeedForward take_feed_forward(std::uint32_t layer, std::array<Role, 3> roles, std::uint64_t rows) {
    const auto take = [&](Role role, std::uint64_t out, std::uint64_t in) {
      if (!tensors_.knows(role)) return Projection();
      return tensors_.take_projection({.role = role, .layer = layer}, out, in, is_biased(role));
    };
    return {take(roles[0], rows, plan_.hidden), take(roles[1], rows, plan_.hidden), take(roles[2], plan_.hidden, rows)};
  }

  bool is_biased(Role role) const { return sizes_.biased.contains(role); }

  void take_attention(std::uint32_t layer, LayerPlan& it) {
    const auto take = [&](Role role, std::uint64_t rows, std::uint64_t columns) {
      return tensors_.take_projection({.role = role, .layer = layer}, rows, columns, is_biased(role));
    };
    if (plan_.latent != 0) {
      take_latent_attention(layer, it);
    } else if (tensors_.knows(Role::qkv)) {
      take_joined_heads(layer, it);
    } else {
      const std::uint64_t gates = runtime_.gates_queries ? plan_.queries() : 0;
      it.q = take(Role::q, plan_.queries() + gates, plan_.hidden);
      if (gates != 0) {  // in each head, the queries come first
        const Projection both = std::move(it.q);
        it.q = rows_of(both, {plan_.heads, 2 * plan_.head, 0, plan_.head});
        it.attention_gate = rows_of(both, {plan_.heads, 2 * plan_.head, plan_.head, plan_.head});
      }
      it.k = take(Role::k, plan_.keys(), plan_.hidden);
      it.v = take(Role::v, plan_.values(), plan_.hidden);
    }
    it.o = take(Role::o, plan_.hidden, plan_.answers());
    if (sizes_.has_qk_norms) {
      it.q_norm = tensors_.take_norm(Role::q_norm, layer, plan_.wide_qk_norms ? plan_.queries() : plan_.head);
      it.k_norm = tensors_.take_norm(Role::k_norm, layer, plan_.wide_qk_norms ? plan_.keys() : plan_.head);
    }
    if (tensors_.knows(Role::sinks)) it.sinks = tensors_.take({.role = Role::sinks, .layer = layer}, {plan_.heads});
  }

  // Queries, keys and values in one matrix: all queries first, or those of each group of heads with its keys and values.
  void take_joined_heads(std::uint32_t layer, LayerPlan& it) {
    const std::uint64_t queries = plan_.queries(), keys = plan_.keys(), head = plan_.head;
    const Projection all = tensors_.take_projection({.role = Role::qkv, .layer = layer}, queries + 2 * keys,
                                                    plan_.hidden, is_biased(Role::qkv));
    if (!tensors_.has_step(Role::qkv, arch::Verb::sort_heads)) {
      it.q = rows_of(all, {1, 0, 0, queries});
      it.k = rows_of(all, {1, 0, queries, keys}), it.v = rows_of(all, {1, 0, queries + keys, keys});
      return;
    }
    const std::uint64_t groups = plan_.kv_heads, own = queries / groups, step = own + 2 * head;
    it.q = rows_of(all, {groups, step, 0, own});
    it.k = rows_of(all, {groups, step, own, head}), it.v = rows_of(all, {groups, step, own + head, head});
  }

  // A layer without attention.
  void take_state(std::uint32_t layer, LayerPlan& it) {
    const StateSizes& sizes = plan_.state;
    const auto take = [&](Role role, std::uint64_t rows, std::uint64_t columns) {
      return tensors_.take_projection({.role = role, .layer = layer}, rows, columns, false);
    };
    const std::uint64_t keys = sizes.keys(), values = sizes.values(), heads = sizes.key_heads;
    StateWeights& state = it.state;
    const auto split = [&](const Projection& all, std::uint64_t q, std::uint64_t k, std::uint64_t v) {
      state.q = rows_of(all, {1, 0, 0, q}), state.k = rows_of(all, {1, 0, q, k});
      state.v = rows_of(all, {1, 0, q + k, v});
    };
    if (runtime_.state.empty()) {
      split(take(Role::convolution_in, 3 * plan_.hidden, plan_.hidden), plan_.hidden, plan_.hidden, plan_.hidden);
      state.convolution = tensors_.take({.role = Role::convolution, .layer = layer}, {plan_.hidden, 1, sizes.kernel});
      state.out = take(Role::convolution_out, plan_.hidden, plan_.hidden);
      return;
    }
    const std::uint64_t own = sizes.shared() * sizes.value, step = 2 * sizes.key + 2 * own;
    if (tensors_.knows(Role::state_qkvz)) {
      const Projection all = take(Role::state_qkvz, heads * step, plan_.hidden),
                       both = take(Role::state_step_and_share, 2 * sizes.value_heads, plan_.hidden);
      state.q = rows_of(all, {heads, step, 0, sizes.key}), state.k = rows_of(all, {heads, step, sizes.key, sizes.key});
      state.v = rows_of(all, {heads, step, 2 * sizes.key, own});
      state.gate = rows_of(all, {heads, step, 2 * sizes.key + own, own});
      state.share = rows_of(both, {heads, 2 * sizes.shared(), 0, sizes.shared()});
      state.step = rows_of(both, {heads, 2 * sizes.shared(), sizes.shared(), sizes.shared()});
    } else {
      split(take(Role::state_qkv, 2 * keys + values, plan_.hidden), keys, keys, values);
      state.gate = take(Role::state_gate, values, plan_.hidden);
      state.step = take(Role::state_step, sizes.value_heads, plan_.hidden);
      state.share = take(Role::state_share, sizes.value_heads, plan_.hidden);
    }
    state.convolution =
        tensors_.take({.role = Role::state_convolution, .layer = layer}, {sizes.channels(), 1, sizes.kernel});
    state.step_bias = tensors_.take({.role = Role::state_step_bias, .layer = layer}, {sizes.value_heads});
    state.rate = tensors_.take({.role = Role::state_rate, .layer = layer}, {sizes.value_heads});
    state.norm = tensors_.take_norm(Role::state_norm, layer, sizes.value);
    state.out = take(Role::state_out, plan_.hidden, values);
  }

  // The compressing projections have a bias if the output projection has one; the expanding ones have none.
  void take_latent_attention(std::uint32_t layer, LayerPlan& it) {
    const auto take = [&](Role role, std::uint64_t rows, std::uint64_t columns, bool biased) {
      return tensors_.take_projection({.role = role, .layer = layer}, rows, columns, biased);
    };
    const bool biased = is_biased(Role::o);
    if (plan_.query_latent == 0) {
      it.q = take(Role::q, plan_.queries(), plan_.hidden, false);
    } else {
      it.q_compress = take(Role::q_compress, plan_.query_latent, plan_.hidden, biased);
      it.q_compress_norm = tensors_.take_norm(Role::q_compress_norm, layer, plan_.query_latent);
      it.q = take(Role::q_expand, plan_.queries(), plan_.query_latent, false);
    }
    it.kv_compress = take(Role::kv_compress, plan_.compressed(), plan_.hidden, biased);
    it.kv_compress_norm = tensors_.take_norm(Role::kv_compress_norm, layer, plan_.latent);
    it.kv_expand = take(Role::kv_expand, plan_.expanded(), plan_.latent, false);
  }

  void take_experts(std::uint32_t layer, LayerPlan& it) {
    it.router = tensors_.take_projection({.role = Role::router, .layer = layer}, *sizes_.experts, plan_.hidden,
                                         is_biased(Role::router));
    if (plan_.routing.scores == arch::RouterScores::sigmoid || facts_.biases_choice)
      it.choice_bias = tensors_.take_vector({.role = Role::router_bias, .layer = layer}, *sizes_.experts);
    it.experts = tensors_.take_experts(layer, *sizes_.experts, plan_.expert_rows, plan_.hidden);
    if (plan_.shared_rows == 0) return;
    if (tensors_.knows(Role::shared_router))
      it.shared_router = tensors_.take({.role = Role::shared_router, .layer = layer}, {1, plan_.hidden});
    it.shared = take_feed_forward(layer, {Role::shared_gate, Role::shared_up, Role::shared_down}, plan_.shared_rows);
  }

  void take_layer(std::uint32_t layer, bool has_window) {
    LayerPlan it;
    it.place = fmt::format("layer {}", layer);
    it.window = has_window ? static_cast<std::uint64_t>(*fields_.sliding_window) : 0;
    it.rotates = has_positions(layer) && !tensors_.knows(Role::position_embedding) &&
                 (has_window || !facts_.rotates_in_windows || fields_.sliding_window.value_or(0) <= 0);
    it.local_rope = has_window;
    it.attention_norm = tensors_.take_norm(Role::attention_norm, layer, plan_.hidden);
    // Side by side, the two may have the same norm.
    if (!plan_.parallel || tensors_.exists({.role = Role::ffn_norm, .layer = layer}))
      it.ffn_norm = tensors_.take_norm(Role::ffn_norm, layer, plan_.hidden);
    it.post_attention_norm = tensors_.take_norm(Role::post_attention_norm, layer, plan_.hidden);
    it.post_ffn_norm = tensors_.take_norm(Role::post_ffn_norm, layer, plan_.hidden);
    if (is_biased(Role::attention_norm))
      it.attention_norm_bias = tensors_.take_bias(Role::attention_norm, layer, plan_.hidden);
    if (is_biased(Role::ffn_norm) && it.ffn_norm)
      it.ffn_norm_bias = tensors_.take_bias(Role::ffn_norm, layer, plan_.hidden);
    if (sizes_.without_attention.contains(layer))
      take_state(layer, it);
    else
      take_attention(layer, it);
    if (sizes_.has_experts(layer)) {
      take_experts(layer, it);
    } else if (tensors_.knows(Role::gate_up)) {
      const Weight both =
          tensors_.take({.role = Role::gate_up, .layer = layer}, {2 * plan_.intermediate, plan_.hidden});
      it.ffn.gate.weight = part_of(both, 0, plan_.intermediate);
      it.ffn.up.weight = part_of(both, plan_.intermediate, plan_.intermediate);
      it.ffn.down = tensors_.take_projection({.role = Role::down, .layer = layer}, plan_.hidden, plan_.intermediate,
                                             is_biased(Role::down));
    } else {
      it.ffn = take_feed_forward(layer, {Role::gate, Role::up, Role::down}, plan_.intermediate);
    }
    plan_.layers.push_back(std::move(it));
  }

  const arch::Family& family_;
  const arch::Runtime& runtime_;
  const arch::ComputeFacts& facts_;
  resources::ConfigFile file_;
  Config fields_;
  arch::Sizes sizes_;
  Tensors tensors_;
  Plan plan_;
};

}  // namespace

Plan plan_of(Model model) {
  model.refuse_broken();
  const Spending spending;
  if (spending.is_outermost())
    for (const SourcePtr& source : model.sources) current_budget()->grant(source->size());
  std::vector<Change> ignored;
  const std::vector<Tensor> stored = model.tensors;
  release_conventions(model, ignored);
  const std::optional<Map> json = config_json_of(model);
  if (!json)
    throw Error(ErrorKind::unsupported, "run.family",
                "the model has no config.json, or one that does not parse, so it is not known what it computes")
        .blame(Subject::input);
  const std::string type = resources::ConfigFile(*json).model_type();
  const arch::Family* const family = arch::find_family(type);
  const arch::ComputeFacts* const facts = arch::find_compute_facts(type);
  if (family == nullptr || facts == nullptr)
    throw refused_config("run.family", type.empty()
                                           ? "it has no model_type, so it is not known what the model computes"
                                           : fmt::format("models of the type {} cannot be run here", quote(type)));
  Plan plan = Planner(model, stored, *json, *family, *facts).run();
  plan.doubts = unknown_settings(*json, resources::ConfigFile(*json));
  if (std::optional<Change> surplus = surplus_tensors(model)) plan.doubts.push_back(std::move(*surplus));
  if (!model.sources.empty()) plan.file = model.sources.front()->name();
  for (Change& change : ignored)
    if (change.impact == Impact::results) plan.doubts.push_back(std::move(change));
  return plan;
}

bool Plan::layers_have_gates() const {
  return std::ranges::any_of(layers,
                             [](const LayerPlan& layer) { return static_cast<bool>(layer.attention_gate.weight); });
}

Plan with_weights_of(const Plan& settings, const Plan& weights) {
  Plan made = settings;
  made.embeddings = weights.embeddings, made.positions = weights.positions;
  made.head_weight = weights.head_weight, made.head_bias = weights.head_bias;
  made.final_norm = weights.final_norm, made.final_norm_bias = weights.final_norm_bias;
  for (std::size_t layer = 0; layer < made.layers.size(); ++layer) {
    made.layers[layer] = weights.layers[layer];
    static_cast<LayerSettings&>(made.layers[layer]) = settings.layers[layer];
  }
  return made;
}

std::vector<std::pair<std::string, std::string>> Plan::settings() const {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](std::string_view name, const auto& value) { all.emplace_back(name, fmt::format("{}", value)); };
  add("vocab_size", vocabulary), add("hidden_size", hidden), add("intermediate_size", intermediate);
  add("heads", heads), add("key heads", kv_heads), add("head_dim", head), add("layers", layers.size());
  add("epsilon", epsilon), add("embedding scale", embedding_scale), add("attention scale", attention_scale);
  add("residual scale", residual_scale), add("logits divisor", output_divisor);
  add("attention soft cap", attention_cap), add("output soft cap", output_cap), add("clamp", most);
  add("position scale", position_scale), add("activation", static_cast<int>(activation));
  add("experts in use", routing.used), add("normalized experts", routing.normalizes);
  add("scale of experts", routing.scale), add("groups of experts", routing.groups);
  add("groups in use", routing.used_groups), add("scores of experts", static_cast<int>(routing.scores));
  add("sharpness of the gate", gate_sharpness), add("limit of the gate", gate_limit);
  add("value head", value_head), add("latent size", latent), add("latent size of queries", query_latent);
  add("latent epsilon", latent_epsilon), add("rotated neighbours", rotates_neighbours);
  add("kind of norm", static_cast<int>(norm)), add("norms before", norms_first), add("norms after", norms_after);
  add("side by side", parallel), add("norms after rotation", norms_after_rotation);
  add("clamp after norms", clamps_after_norm), add("squared activation", squares);
  if (state.kernel != 0) {
    add("heads of keys of states", state.key_heads), add("heads of values of states", state.value_heads);
    add("key of states", state.key), add("value of states", state.value), add("tokens of convolutions", state.kernel);
  }
  for (const auto& [before, one] : {std::pair("", &rope), {"local ", &local_rope}}) {
    const std::string_view name = before;  // a lambda of clang 14 cannot capture a structured binding
    const auto number = [&](std::string_view key, const std::optional<double>& value) {
      if (value) add(fmt::format("{}{}", name, key), *value);
    };
    add(fmt::format("{}rope_type", name), one->kind), add(fmt::format("{}rope_theta", name), one->theta);
    add(fmt::format("{}rotated elements", name), one->rotated);
    if (one->kind == "default") continue;
    add(fmt::format("{}original context", name), one->original);
    number("factor", one->factor), number("attention_factor", one->attention_factor);
    number("beta_fast", one->beta_fast), number("beta_slow", one->beta_slow);
    number("mscale", one->mscale), number("mscale_all_dim", one->mscale_all);
    number("low_freq_factor", one->low_frequency), number("high_freq_factor", one->high_frequency);
    add(fmt::format("{}long_factor", name), fmt::format("{}", fmt::join(one->long_factors, " ")));
    add(fmt::format("{}short_factor", name), fmt::format("{}", fmt::join(one->short_factors, " ")));
  }
  const auto per_layer = [&](std::string_view name, const auto& value) {
    std::vector<std::string> texts;
    for (const LayerPlan& layer : layers) texts.push_back(fmt::format("{}", value(layer)));
    all.emplace_back(name, fmt::format("{}", fmt::join(texts, " ")));
  };
  per_layer("windows", [](const LayerPlan& layer) { return layer.window; });
  per_layer("layers with positions", [](const LayerPlan& layer) { return layer.rotates ? 1 : 0; });
  return all;
}

std::vector<std::pair<std::string, const Weight*>> Plan::weights_of(const LayerPlan& layer) {
  std::vector<std::pair<std::string, const Weight*>> all;
  const auto add = [&](std::string name, const Weight& weight) {
    if (weight) all.emplace_back(std::move(name), &weight);
  };
  const auto project = [&](const std::string& name, const Projection& one) {
    add(name, one.weight);
    add(name + ".bias", one.bias);
  };
  const auto feed = [&](const std::string& name, const FeedForward& one) {
    project(name + ".gate", one.gate), project(name + ".up", one.up), project(name + ".down", one.down);
  };
  add("attention_norm", layer.attention_norm), add("attention_norm.bias", layer.attention_norm_bias);
  project("q_compress", layer.q_compress), add("q_compress_norm", layer.q_compress_norm);
  project("q", layer.q), project("k", layer.k), project("v", layer.v);
  project("kv_compress", layer.kv_compress), add("kv_compress_norm", layer.kv_compress_norm);
  project("kv_expand", layer.kv_expand), add("sinks", layer.sinks), project("attention_gate", layer.attention_gate);
  project("o", layer.o);
  const StateWeights& state = layer.state;
  project("state.q", state.q), project("state.k", state.k), project("state.v", state.v);
  project("state.gate", state.gate), project("state.step", state.step), project("state.share", state.share);
  add("state.step_bias", state.step_bias), add("state.rate", state.rate), add("state.norm", state.norm);
  add("convolution", state.convolution), project("state.out", state.out);
  add("q_norm", layer.q_norm), add("k_norm", layer.k_norm), add("post_attention_norm", layer.post_attention_norm);
  add("ffn_norm", layer.ffn_norm), add("ffn_norm.bias", layer.ffn_norm_bias);
  feed("ffn", layer.ffn);
  project("router", layer.router), add("choice_bias", layer.choice_bias);
  for (std::size_t i = 0; i < layer.experts.size(); ++i) feed(fmt::format("experts.{}", i), layer.experts[i]);
  add("shared_router", layer.shared_router);
  feed("shared", layer.shared);
  add("post_ffn_norm", layer.post_ffn_norm);
  return all;
}

}  // namespace tare::run
