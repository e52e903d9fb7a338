// The mixes of llama.cpp's quantizer: the role of a tensor and its position in the model decide how many bits it gets.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "arch/families.hpp"
#include "arch/names.hpp"
#include "arch/roles.hpp"
#include "convert/recipe.hpp"

namespace tare {
namespace {

using arch::Role;
using recipe::MixOptions;

// The layers in which a role gets more bits.
enum class More : std::uint8_t {
  none,
  all,
  first_2,
  first_4,
  first_16th,  // sixteenth of the layers
  first_8th,
  middle,  // all but the first and the last eighth
  spread,  // the first and the last eighth, and every third layer between them
};

struct Extra {
  More where = More::none;
  std::string_view method = {};     // in these layers
  std::string_view elsewhere = {};  // in other layers; empty: the base method
};

struct Recipe {
  Mix mix;
  std::string_view base;
  Extra v = {}, o = {}, down = {};
  Extra down_weighted = {};               // replaces `down` if there are importance values
  std::string_view v_weighted = {};       // replaces `v`, likewise
  std::string_view qk = {};               // queries and keys; empty: the base method
  Extra up = {};                          // gates and up-projections
  std::string_view v_shared = {};         // replaces `v` if four or more heads share it
  std::string_view o_of_8 = "q5_k";       // replaces `o` in a model of 8 experts
  Extra down_of_8 = {};                   // replaces `down` in a model of 8 experts
  bool small = false;                     // 1 or 2 bits: other rules for experts, and none for 70 billion weights
  std::string_view table = {};            // the token table, if it is not the head; empty: the base method
  std::string_view head = "q6_k";         // also for the token table, if it is the head
  std::string_view outside_experts = {};  // for everything but stacks of experts; empty: the same methods
};

// Types with a minimum do harm here without importance values: llama.cpp uses q4_1 and q5_1 only with importance
// values, and omits q5_k with them.
constexpr Extra kFirstQ41{More::first_8th, "q4_1"}, kFirstQ51{More::first_8th, "q5_1"},
    kFirstQ5K{More::first_8th, "q5_k"}, kFirstQ4K{More::first_8th, "q4_k"}, kSpreadQ6K{More::spread, "q6_k"},
    kAllQ3K{More::all, "q3_k"}, kAllQ4K{More::all, "q4_k"}, kAllQ5K{More::all, "q5_k"},
    kDownQ3KM{More::first_16th, "q5_k", "q4_k"};

constexpr Recipe q3_k_m(std::string_view name) {
  return {.mix = {name, "3 bits, 4 and 5 where they matter"},
          .base = "q3_k",
          .v = {More::first_2, "q5_k", "q4_k"},
          .o = kAllQ4K,
          .down = kDownQ3KM,
          .down_weighted = kDownQ3KM};
}
constexpr Recipe q4_k_m(std::string_view name) {
  return {.mix = {name, "4 bits, 6 where they matter"},
          .base = "q4_k",
          .v = kSpreadQ6K,
          .down = kSpreadQ6K,
          .down_weighted = kSpreadQ6K};
}
constexpr Recipe q5_k_m(std::string_view name) {
  return {.mix = {name, "5 bits, 6 where they matter"},
          .base = "q5_k",
          .v = kSpreadQ6K,
          .down = kSpreadQ6K,
          .down_weighted = kSpreadQ6K,
          .o_of_8 = {}};
}

// Mixes of about 1 and 2 bits: `more` is the type of tensors that need more bits.
constexpr Recipe small_mix(Mix mix, std::string_view base, std::string_view more, Extra o) {
  return {.mix = mix,
          .base = base,
          .v = {More::all, more},
          .o = o,
          .down = {More::first_8th, more},
          .down_weighted = {More::first_8th, more},
          .v_shared = "q4_k",
          .small = true,
          .table = more,
          .head = "q5_k"};
}
constexpr Extra kAllIq2Xxs{More::all, "iq2_xxs"}, kAllIq3S{More::all, "iq3_s"};

constexpr Recipe ternary(Mix mix) { return {.mix = mix, .base = mix.name, .o_of_8 = {}, .table = "q4_k"}; }

constexpr Recipe kRecipes[] = {
    {.mix = {"q4_0", "4 bits, one scale for 32 weights"}, .base = "q4_0", .down_weighted = kFirstQ41, .o_of_8 = {}},
    {.mix = {"q4_1", "4 bits, scale and minimum for 32 weights"}, .base = "q4_1", .o_of_8 = {}},
    {.mix = {"q5_0", "5 bits, one scale for 32 weights"}, .base = "q5_0", .down_weighted = kFirstQ51, .o_of_8 = {}},
    {.mix = {"q5_1", "5 bits, scale and minimum for 32 weights"}, .base = "q5_1", .o_of_8 = {}},
    {.mix = {"q8_0", "8 bits"}, .base = "q8_0", .o_of_8 = {}, .head = "q8_0"},
    {.mix = {"q2_k", "2 bits, 3 where they matter"},
     .base = "q2_k",
     .v = kAllQ3K,
     .o = kAllQ3K,
     .down = kAllQ3K,
     .down_weighted = kAllQ3K,
     .v_shared = "q4_k"},
    {.mix = {"q2_k_s", "2 bits, 4 in the first layers"},
     .base = "q2_k",
     .down = kFirstQ4K,
     .down_weighted = kFirstQ4K,
     .v_shared = "q4_k",
     .o_of_8 = {}},
    {.mix = {"q3_k_s", "3 bits"}, .base = "q3_k"},
    q3_k_m("q3_k_m"),
    q3_k_m("q3_k"),
    {.mix = {"q3_k_l", "3 bits, 5 where they matter"},
     .base = "q3_k",
     .v = kAllQ5K,
     .o = kAllQ5K,
     .down = kAllQ5K,
     .down_weighted = kAllQ5K,
     .o_of_8 = {}},
    {.mix = {"q4_k_s", "4 bits, 5 in the first layers"},
     .base = "q4_k",
     .v = {More::first_4, "q5_k"},
     .down = kFirstQ5K,
     .down_weighted = kFirstQ5K},
    q4_k_m("q4_k_m"),
    q4_k_m("q4_k"),
    {.mix = {"q5_k_s", "5 bits"}, .base = "q5_k", .o_of_8 = {}},
    q5_k_m("q5_k_m"),
    q5_k_m("q5_k"),
    {.mix = {"q6_k", "6 bits"}, .base = "q6_k", .o_of_8 = {}},
    {.mix = {"iq4_nl", "4 bits of a table, one scale for 32 weights"},
     .base = "iq4_nl",
     .down = kFirstQ5K,
     .v_shared = "q5_k"},
    {.mix = {"iq4_xs", "4 bits of a table, scales of scales"}, .base = "iq4_xs", .down = kFirstQ5K, .v_shared = "q5_k"},
    {.mix = {"iq3_m", "3.66 bits: codewords, 4 bits where they matter"},
     .base = "iq3_s",
     .v = kAllQ4K,
     .o = kAllQ4K,
     .down = kFirstQ4K,
     .down_weighted = kFirstQ4K,
     .down_of_8 = {More::spread, "q4_k"}},
    {.mix = {"iq3_s", "3.44 bits: codewords for 4 weights"}, .base = "iq3_s", .v_shared = "q4_k"},
    {.mix = {"iq3_xs", "3.3 bits: codewords, fewer bits in the middle layers"},
     .base = "iq3_s",
     .qk = "iq3_xxs",
     .up = {More::middle, "iq3_xxs"},
     .v_shared = "q4_k"},
    {.mix = {"iq3_xxs", "3.06 bits: codewords for 4 weights"},
     .base = "iq3_xxs",
     .v = kAllIq3S,
     .o = kAllIq3S,
     .down = {More::first_8th, "q4_k", "q3_k"},
     .v_weighted = "iq3_xxs",
     .qk = "iq2_s",
     .v_shared = "q4_k",
     .table = "iq3_s",
     .head = "q5_k"},
    small_mix({"iq2_m", "2.7 bits: codewords for 8 weights, 3 bits where they matter"}, "iq2_s", "iq3_s", kAllIq3S),
    small_mix({"iq2_s", "2.5 bits: codewords for 8 weights, 3 bits where they matter"}, "iq2_xs", "iq3_s", kAllIq3S),
    small_mix({"iq2_xs", "2.31 bits: codewords for 8 weights"}, "iq2_xs", "q2_k", {}),
    small_mix({"iq2_xxs", "2.06 bits: codewords for 8 weights"}, "iq2_xxs", "q2_k", {}),
    small_mix({"iq1_m", "1.75 bits: codewords for 8 weights"}, "iq1_m", "q2_k", kAllIq2Xxs),
    small_mix({"iq1_s", "1.56 bits: codewords for 8 weights"}, "iq1_s", "q2_k", kAllIq2Xxs),
    ternary({"tq1_0", "-1, 0 and 1 in 1.69 bits, for models trained so"}),
    ternary({"tq2_0", "-1, 0 and 1 in 2.06 bits, for models trained so"}),
    {.mix = {"mxfp4_moe", "experts in 4-bit floats, the rest in 8 bits"},
     .base = "mxfp4",
     .o_of_8 = {},
     .head = "q8_0",
     .outside_experts = "q8_0"},
};

constexpr auto kMixes = [] {
  std::array<Mix, std::size(kRecipes)> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRecipes[i].mix;
  return all;
}();

// Matrices that a mix keeps, in addition to those with a role that is kept: small ones of state-space models, RWKV,
// Gemma 3n, T5, and of vision and audio parts. These are parts of GGUF's names.
constexpr std::string_view kKeptNames[] = {
    "altup",        "laurel",       "per_layer_model_proj", "ssm_conv1d",  "shortconv.conv",   "time_mix_first",
    "time_mix_w0",  "time_mix_w1",  "time_mix_w2",          "time_mix_v0", "time_mix_v1",      "time_mix_v2",
    "time_mix_a0",  "time_mix_a1",  "time_mix_a2",          "time_mix_g1", "time_mix_g2",      "time_mix_decay_w",
    "time_mix_ler", "attn_rel_b",   "token_types",          "indexer.k_",  "ffn_gate_tid2eid", "indexer.q_proj",
    ".position_em", ".rel_pos",     ".patch_embd",          ".patch_merg", "sam.pos_embd",     "sam.neck.",
    "sam.net_",     "a.rvq.codebo", "mm.a.code_embd",
};

bool gets_more(More where, std::uint64_t layer, std::uint64_t layers) {
  switch (where) {
    case More::none: return false;
    case More::all: return true;
    case More::first_2: return layer < 2;
    case More::first_4: return layer < 4;
    case More::first_16th: return layer < layers / 16;
    case More::first_8th: return layer < layers / 8;
    case More::middle: return layer >= layers / 8 && layer < 7 * layers / 8;
    case More::spread: return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
  }
  return false;
}

// The number after "blk." or "layers.".
std::optional<std::uint64_t> layer_in(std::string_view name) {
  for (const std::string_view word : {"blk.", "layers."}) {
    const std::size_t at = name.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view digits = name.substr(at + word.size());
    std::uint64_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

bool is_called_weight(const Tensor& tensor) { return tensor.name.ends_with("weight"); }

bool is_value(Role role) { return role == Role::v || role == Role::qkv; }
bool is_down(Role role) {
  return role == Role::down || role == Role::expert_down || role == Role::stacked_down || role == Role::shared_down;
}
bool is_up(Role role) {
  return role == Role::up || role == Role::gate || role == Role::expert_up || role == Role::expert_gate ||
         role == Role::stacked_up || role == Role::stacked_gate || role == Role::shared_up || role == Role::shared_gate;
}
bool is_of_experts(Role role, const Tensor& tensor) { return arch::is_of_expert(role) || tensor.shape.rank() > 2; }

// Matrices that a mix does not quantize.
bool is_left_alone(Role role, const Tensor& tensor) {
  const auto is_kept = [&](std::string_view part) { return tensor.name.find(part) != std::string::npos; };
  return tensor.shape.rank() < 2 || arch::is_norm(role) || role == Role::router || role == Role::shared_router ||
         role == Role::position_embedding || std::ranges::any_of(kKeptNames, is_kept);
}

// Gemma 3n has a second table.
bool is_token_table(Role role, const Tensor& tensor) {
  return role == Role::token_embedding || tensor.name == "per_layer_token_embd.weight";
}

// llama.cpp's test for a model of 70 billion weights.
bool is_of_70_billion(const Config& config, std::uint64_t layers, std::int64_t sharing) {
  const arch::Family* const family = config.model_type ? arch::find_family_by_any_name(*config.model_type) : nullptr;
  if (layers != 80 || family == nullptr) return false;
  const arch::LargeAt80Layers large = family->runtime.large_at_80_layers;
  return large == arch::LargeAt80Layers::always || (large == arch::LargeAt80Layers::if_heads_share_keys && sharing > 1);
}

class Mixer {
 public:
  Mixer(const Recipe& recipe, const std::vector<Tensor>& tensors, const Config& config, const MixOptions& options)
      : recipe_(recipe), options_(options) {
    const std::int64_t heads = config.num_attention_heads.value_or(0),
                       shared = config.num_key_value_heads.value_or(heads);
    sharing_ = shared > 0 ? heads / shared : 1;
    has_weights_ = std::ranges::any_of(tensors, is_called_weight);
    std::map<std::uint64_t, std::uint64_t> experts;  // experts in tensors of their own, by layer
    for (const Tensor& tensor : tensors) {
      const Role role = arch::role_of(tensor.name);
      const auto layer = layer_in(tensor.name);
      if (layer) layers_ = std::max(layers_, *layer + 1);
      if (role == Role::output_head) tied_ = false;
      if (role == Role::stacked_down && tensor.shape.rank() == 3) experts_ = std::max(experts_, tensor.shape[0]);
      if (role == Role::expert_down && is_called_weight(tensor)) ++experts[layer.value_or(0)];
      if (is_value(role) && is_called_weight(tensor)) values_.insert(layer.value_or(0));
      if (is_down(role) && is_called_weight(tensor)) downs_.insert(layer.value_or(0));
    }
    for (const auto& [layer, count] : experts) experts_ = std::max(experts_, count);
    of_70_billion_ = is_of_70_billion(config, layers_, sharing_);
    if (const std::int64_t stated = config.num_hidden_layers.value_or(0); stated > 0)
      layers_ = static_cast<std::uint64_t>(stated);
  }

  std::string method_for(const Tensor& tensor) const {
    const Role role = arch::role_of(tensor.name);
    if (is_left_alone(role, tensor) || (has_weights_ && !is_called_weight(tensor))) return {};
    if (options_.pure) return std::string(recipe_.base);
    if (role == Role::output_head || (is_token_table(role, tensor) && tied_)) return for_head(tensor);
    if (!recipe_.outside_experts.empty())
      return std::string(is_of_experts(role, tensor) ? recipe_.base : recipe_.outside_experts);
    if (is_token_table(role, tensor) && !recipe_.table.empty()) return std::string(recipe_.table);
    const std::uint64_t layer = layer_in(tensor.name).value_or(0);
    if (is_value(role)) return for_values(layer);
    if (is_down(role)) return for_down(layer);
    if (role == Role::k && experts_ == 8) return recipe_.small ? "q4_k" : "q8_0";
    if ((role == Role::q || role == Role::k) && !recipe_.qk.empty()) return std::string(recipe_.qk);
    if (is_up(role)) return extra(recipe_.up, layer, layers_);
    if (role == Role::o && experts_ == 8) return std::string(recipe_.o_of_8.empty() ? recipe_.base : recipe_.o_of_8);
    if (role == Role::o) return extra(recipe_.o, layer, layers_);
    return std::string(recipe_.base);
  }

 private:
  std::string extra(const Extra& more, std::uint64_t layer, std::uint64_t layers) const {
    if (gets_more(more.where, layer, layers)) return std::string(more.method);
    return std::string(more.elsewhere.empty() ? recipe_.base : more.elsewhere);
  }

  // In rows that are not whole blocks, q6_k falls back to q8_0. llama.cpp uses that for every head.
  std::string for_head(const Tensor& tensor) const {
    const bool whole = tensor.shape[tensor.shape.rank() - 1] % 256 == 0;
    return std::string(whole || recipe_.head == "q6_k" ? recipe_.head : "q8_0");
  }

  // llama.cpp counts such tensors, not layers: some models have layers without them.
  static std::uint64_t place_in(const std::set<std::uint64_t>& layers, std::uint64_t layer) {
    return static_cast<std::uint64_t>(std::distance(layers.begin(), layers.lower_bound(layer)));
  }

  std::string for_down(std::uint64_t layer) const {
    const std::uint64_t place = experts_ > 1 ? layer : place_in(downs_, layer);
    if (experts_ == 8 && recipe_.down_of_8.where != More::none) return extra(recipe_.down_of_8, place, layers_);
    return extra(options_.weighted ? recipe_.down_weighted : recipe_.down, place, layers_);
  }

  // Value projections are small if many heads share them, and affect all of these heads.
  std::string for_values(std::uint64_t layer) const {
    if (recipe_.small && experts_ >= 4) return std::string(recipe_.v_shared);
    if (experts_ == 8) return "q8_0";
    std::string method = !recipe_.v_shared.empty() && sharing_ >= 4
                             ? std::string(recipe_.v_shared)
                             : extra(recipe_.v, place_in(values_, layer), values_.size());
    if (options_.weighted && !recipe_.v_weighted.empty() && sharing_ < 4) method = recipe_.v_weighted;
    if (of_70_billion_ && !recipe_.small && (method == "q3_k" || method == "q4_k")) method = "q5_k";
    return method;
  }

  const Recipe& recipe_;
  const MixOptions& options_;
  std::uint64_t layers_ = 0, experts_ = 0;
  std::set<std::uint64_t> values_, downs_;  // layers that have such a tensor
  std::int64_t sharing_ = 1;
  bool tied_ = true, of_70_billion_ = false;
  bool has_weights_ = false;  // false: the arrays are not a known model, and all matrices are treated alike
};

}  // namespace

std::span<const Mix> mixes() { return kMixes; }

bool recipe::is_mix(std::string_view method) { return std::ranges::find(kMixes, method, &Mix::name) != kMixes.end(); }

std::string_view recipe::base_of_mix(std::string_view mix) {
  const auto found = std::ranges::find_if(kRecipes, [&](const Recipe& recipe) { return recipe.mix.name == mix; });
  return found == std::end(kRecipes) ? std::string_view() : found->base;
}

bool recipe::wants_importance(std::string_view method) {
  constexpr std::string_view kMethods[] = {"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs"};
  return std::ranges::find(kMethods, method) != std::end(kMethods);
}

std::vector<std::string> recipe::methods_of_mix(std::string_view mix, const std::vector<Tensor>& tensors,
                                                const Config& config, const MixOptions& options) {
  const auto found = std::ranges::find_if(kRecipes, [&](const Recipe& recipe) { return recipe.mix.name == mix; });
  const Mixer mixer(*found, tensors, config, options);
  std::vector<std::string> methods;
  methods.reserve(tensors.size());
  for (const Tensor& tensor : tensors) methods.push_back(mixer.method_for(tensor));
  return methods;
}

}  // namespace tare
