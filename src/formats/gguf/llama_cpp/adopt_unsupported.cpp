// Reports settings of config.json that llama.cpp has no key for, if llama.cpp does something else.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "resources/json_file.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Names of the activations that llama.cpp's graphs hard-code in the feed-forward network.
constexpr std::string_view kSigmoids[] = {"silu", "swish"},
                           kTanhs[] = {"gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_accurate"},
                           kSquares[] = {"relu2"}, kXielus[] = {"xielu"}, kReluOrGelu[] = {"relu", "gelu_new"};

std::span<const std::string_view> words_for(arch::Activation activation) {
  switch (activation) {
    case arch::Activation::silu: return kSigmoids;
    case arch::Activation::gelu_tanh: return kTanhs;
    case arch::Activation::relu_squared: return kSquares;
    case arch::Activation::xielu: return kXielus;
    case arch::Activation::relu_or_gated_gelu: return kReluOrGelu;
  }
  return {};
}

class UnsupportedSettings {
 public:
  UnsupportedSettings(const Model& model, const arch::Family& family, const ConfigFile& file,
                      std::vector<Change>& changes)
      : config_(model.config), family_(family), runtime_(family.runtime), file_(file), changes_(changes) {}

  void run() {
    report_assumptions();
    report_soft_caps();
    report_activation();
    report_window();
    report_positions();
    report_clamp();
    report_time_steps();
    report_indexer();
    report_rope();
  }

 private:
  void report(std::string_view name, std::string detail) { changes_.push_back(unsupported(name, std::move(detail))); }

  void report_assumptions() {
    for (const auto& [name, value] : llama_cpp_assumptions(family_, config_)) {
      const Value* const said = file_.find(name);
      const auto number = said == nullptr ? std::nullopt : resources::number_of(*said);
      if (said == nullptr || *said == value || (number && number == resources::number_of(value))) continue;
      report(name, fmt::format("it is {}, and llama.cpp always assumes {}", to_json(*said), to_json(value)));
    }
  }

  void report_soft_caps() {
    for (const auto& [name, usual] : {std::pair("attn_logit_softcapping", runtime_.null_attention_cap),
                                      std::pair("final_logit_softcapping", runtime_.null_output_cap)})
      if (usual != 0 && file_.is_null(name))
        report(name, fmt::format("it is null, for which llama.cpp uses {}", usual));
  }

  void report_activation() {
    const auto text = [&](std::string_view key) {
      const Value* const found = file_.find(key);
      return found != nullptr && found->text() != nullptr ? *found->text() : std::string();
    };
    std::string name = config_.hidden_act.value_or("");
    if (family_.activation_key == arch::ActivationKey::hidden_activation) name = text("hidden_activation");
    if (family_.activation_key == arch::ActivationKey::either) {
      if (std::string said = text("hidden_act"); !said.empty()) name = std::move(said);
      if (name == "gelu") name = kTanhs[0];  // in these files, it has always meant the approximation
      // Which of the two counts depends on the version of the program that reads the file.
      const std::string other = text("hidden_activation");
      if (!other.empty() && name != other)
        return report("hidden_activation",
                      fmt::format("it is \"{}\" and hidden_act is \"{}\"; llama.cpp computes \"{}\"", quote(other),
                                  quote(name), kTanhs[0]));
    }
    const std::span<const std::string_view> same = words_for(runtime_.activation);
    if (name.empty() || std::ranges::find(same, name) != same.end()) return;
    report("hidden_act", fmt::format("it is \"{}\", and llama.cpp computes \"{}\"", quote(name), same.front()));
  }

  // Returns whether any layer uses a window.
  bool has_window() const {
    const std::int64_t window = config_.sliding_window.value_or(0), layers = config_.num_hidden_layers.value_or(0);
    if (window <= 0 || (config_.max_position_embeddings && window >= *config_.max_position_embeddings)) return false;
    if (const Value* const types = file_.find("layer_types"); types != nullptr && types->get<List>() != nullptr)
      return std::ranges::find(*types->get<List>(), Value("sliding_attention")) != types->get<List>()->end();
    const auto first = file_.number("max_window_layers");
    return !runtime_.has_max_window_layers || !first || *first < static_cast<double>(layers);
  }

  void report_window() {
    if (runtime_.window_period > 0 || !has_window()) return;
    const std::int64_t window = *config_.sliding_window;
    const auto context = config_.max_position_embeddings;
    report("sliding_window",
           fmt::format("its value is {}, but llama.cpp attends to the full context{} in every layer of "
                       "this model; results may differ beyond {} tokens",
                       window, context ? fmt::format(" of {}", *context) : "", window));
  }

  // How far one token can change a state may be bounded.
  void report_time_steps() {
    const Value* const said = file_.find("time_step_limit");
    const List* const bounds = said == nullptr ? nullptr : said->get<List>();
    if (bounds == nullptr || bounds->size() != 2) return;
    const auto least = resources::number_of((*bounds)[0]), most = resources::number_of((*bounds)[1]);
    if (least.value_or(0) > 0 || (most && std::isfinite(*most)))
      report("time_step_limit", "llama.cpp does not bound the steps of a state");
  }

  // OLMoE's class clamps queries, keys and values as OLMo's does.
  void report_clamp() {
    if (file_.number("clip_qkv").value_or(0) != 0 && runtime_.row("attention.clamp_kqv") == nullptr)
      report("clip_qkv", "llama.cpp does not clamp queries, keys and values of this family");
  }

  // GLM 5 may state by a pattern what indexer_types lists: layers that share the indexer of another.
  void report_indexer() {
    if (file_.find("indexer_types") != nullptr) return;
    if (file_.find("index_topk_pattern") != nullptr)
      report("index_topk_pattern", "which layers share an indexer is only read from indexer_types");
    else if (file_.number("index_topk_freq").value_or(1) != 1)
      report("index_topk_freq", "which layers share an indexer is only read from indexer_types");
  }

  // Reports layers whose use of positions llama.cpp does not follow.
  void report_positions() {
    const std::int64_t every = runtime_.rope_skips_every;
    if (every == 0) return;
    require_count(static_cast<std::uint64_t>(std::max<std::int64_t>(config_.num_hidden_layers.value_or(0), 0)),
                  "layers");
    const auto knows = [](std::size_t layer, double step) {
      return step < 1 || (layer + 1) % static_cast<std::size_t>(step) != 0;
    };
    const auto differ = [&](const auto& said) {
      for (std::size_t layer = 0; layer < static_cast<std::size_t>(config_.num_hidden_layers.value_or(0)); ++layer)
        if (said(layer) != knows(layer, static_cast<double>(every))) return true;
      return false;
    };
    const Value* const found = file_.find("no_rope_layers");
    const List* const list = found == nullptr ? nullptr : found->get<List>();
    const double step = file_.number("no_rope_layer_interval").value_or(static_cast<double>(every));
    if (list != nullptr &&
        differ([&](std::size_t i) { return i < list->size() && resources::number_of((*list)[i]) != 0; }))
      report("no_rope_layers",
             fmt::format("llama.cpp leaves positions out of the last of every {} layers, and of no other", every));
    else if (list == nullptr && differ([&](std::size_t i) { return knows(i, step); }))
      report("no_rope_layer_interval", fmt::format("it is {}, and llama.cpp always assumes {}", step, every));
  }

  bool has_table(arch::Role role) const {
    return arch::spell(family_, arch::Dialect::gguf, {.role = role}).has_value();
  }

  // The name in config.json of the object that takes effect.
  std::string_view rope_object() const {
    const Value* const scaling = file_.find("rope_scaling");
    const Map* const object = scaling == nullptr ? nullptr : scaling->get<Map>();
    return object != nullptr && !object->empty() ? "rope_scaling" : "rope_parameters";
  }

  // Warns about keys of these objects that are neither read here nor known to be without effect.
  void report_rope_keys() {
    constexpr std::string_view kRead[] = {"rope_type",        "rope_theta",       "partial_rotary_factor",
                                          "factor",           "truncate",         "original_max_position_embeddings",
                                          "attention_factor", "attn_factor",      "extrapolation_factor",
                                          "beta_fast",        "beta_slow",        "mscale",
                                          "mscale_all_dim",   "long_factor",      "short_factor",
                                          "low_freq_factor",  "high_freq_factor", "max_position_embeddings",
                                          "finetuned"};
    const Map &full = file_.ropes().full, &sliding = file_.ropes().sliding;
    const bool yarn = RopeFile(file_).kind() == "yarn";
    const bool alpha = runtime_.has_alpha_base && RopeFile(file_).kind() == "dynamic";
    for (const auto& [key, value] : full) {
      if (std::ranges::find(kRead, key) != std::end(kRead) || value.is_null()) continue;
      const bool beta = key == "llama_4_scaling_beta" && runtime_.has_full_yarn;
      if (alpha && key == "alpha") continue;
      if (runtime_.states_sections && (key == "mrope_section" || (key == "mrope_interleaved" && value == true)))
        continue;
      if (beta && (yarn || resources::number_of(value) == 0.0)) continue;
      report(fmt::format("{}.{}", rope_object(), quote(key)),
             beta ? "llama.cpp looks at it only where positions are scaled by \"yarn\"" : "llama.cpp does not know it");
    }
    const Value* const kind = sliding.find("rope_type");
    if (kind != nullptr && *kind != Value("default"))
      report("rope_parameters.sliding_attention", "llama.cpp scales positions only in the layers that see everything");
  }

  void report_rope() {
    if (file_.empty()) return;
    report_rope_keys();
    const RopeFile rope(file_);
    const std::string kind = rope.kind();
    constexpr std::string_view kKnown[] = {"", "default", "linear", "yarn", "longrope", "su", "llama3"};
    const std::string_view object = rope_object();
    if (kind == "dynamic" && runtime_.has_alpha_base && rope.number("alpha")) return;
    if (kind == "proportional" && runtime_.has_two_kinds_of_heads) return;
    if (kind == "mrope" && runtime_.states_sections) return;  // an earlier name of "default" with sections
    if (std::ranges::find(kKnown, kind) == std::end(kKnown))
      return report(object, fmt::format("llama.cpp does not scale positions by \"{}\"", quote(kind)));
    const bool lacks = (kind == "llama3" && !has_table(arch::Role::rope_factors)) ||
                       ((kind == "longrope" || kind == "su") && !has_table(arch::Role::rope_factors_long));
    if (lacks) return report(object, fmt::format("llama.cpp does not scale positions of this family by \"{}\"", kind));
    if (kind != "yarn") return;
    const Value* const rounds = rope.find("truncate");
    if (rounds != nullptr && *rounds == false)
      report(fmt::format("{}.truncate", object), "it is false, and llama.cpp always assumes true");
    if (runtime_.has_full_yarn) return;  // these have keys
    for (const auto& [name, usual] : {std::pair("beta_fast", 32.0), std::pair("beta_slow", 1.0)})
      if (const double said = rope.number(name).value_or(usual); said != 0 && said != usual)
        report(fmt::format("{}.{}", object, name),
               fmt::format("it is {}, and llama.cpp reads no other than {} for this family", said, usual));
  }

  const Config& config_;
  const arch::Family& family_;
  const arch::Runtime& runtime_;
  const ConfigFile& file_;
  std::vector<Change>& changes_;
};

}  // namespace

Change unsupported(std::string_view name, std::string detail) {
  return {.kind = ChangeKind::left_out,
          .impact = Impact::results,
          .part = "config.json",
          .items = {std::string(name)},
          .detail = std::move(detail)};
}

Map llama_cpp_assumptions(const arch::Family& family, const Config& config) {
  Map facts;
  const arch::Runtime& runtime = family.runtime;
  if (runtime.normalizes_experts) facts.append("norm_topk_prob", *runtime.normalizes_experts);
  if (arch::find_step(family, arch::Role::output_head, arch::Verb::omit_copy) != nullptr)
    facts.append("tie_word_embeddings", true);
  for (const arch::Assumed& fact : runtime.known)
    if (!fact.key.empty())
      facts.append(std::string(fact.key), std::visit([](const auto& value) { return Value(value); }, fact.value));
  if (runtime.bidirectional) facts.append("use_bidirectional_attention", *runtime.bidirectional);
  if (runtime.layers_of_largest) {
    const std::int64_t layers = config.num_hidden_layers.value_or(0), heads = config.num_attention_heads.value_or(0);
    const bool largest = layers > 0 && layers == *runtime.layers_of_largest;
    const std::int64_t usual = heads > 0 ? config.hidden_size.value_or(0) / heads : 0;
    const std::int64_t scale = largest ? usual : config.head_dim.value_or(usual);
    if (scale > 0) facts.append("query_pre_attn_scalar", scale);
  }
  return facts;
}

void report_unsupported(const Model& model, const arch::Family& family, const ConfigFile& config,
                        std::vector<Change>& changes) {
  UnsupportedSettings(model, family, config, changes).run();
}

}  // namespace tare::gguf::llama_cpp
