// Sets the keys that llama.cpp reads in addition to the fields of Config.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "arch/expected.hpp"
#include "arch/model_classes.hpp"
#include "base/budget.hpp"
#include "base/half.hpp"
#include "base/text.hpp"
#include "base/whole.hpp"
#include "formats/gguf/llama_cpp/adopt_numbers.hpp"
#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/by_layer.hpp"
#include "formats/gguf/llama_cpp/verbs/verbs.hpp"
#include "resources/json_file.hpp"
#include "resources/layer_sizes.hpp"

namespace tare::gguf::llama_cpp {
namespace {

using arch::KeyForm;

class KeyAdopter {
 public:
  KeyAdopter(Model& model, const arch::Family& family, const ConfigFile& file, std::vector<Change>& changes)
      : model_(model),
        family_(family),
        runtime_(family.runtime),
        file_(file),
        changes_(changes),
        config_(model.config) {}

  void run() {
    require_field_kinds(file_);
    if (!config_.num_key_value_heads) config_.num_key_value_heads = config_.num_attention_heads;
    if (runtime_.only_states) forget_attention();
    for (const arch::KeyRows rows : runtime_.keys)
      for (const arch::KeyRow& row : rows) add_row(row);
    if (const auto plain = file_.number(runtime_.plain_size_key); plain && !runtime_.plain_size_key.empty())
      config_.intermediate_size = whole_part(*plain);
    add_width();
    add_layer_heads();
    add_layer_kinds();
    add_next_layers();
    add_state_layers();
    add_sections();
    add_latent_heads();
    add_layer_sizes();
    add_sparsity();
    add_classes();
    add_layer_norm();
    add_head_sizes();
    add_positions();
    add_window();
    add_rope();
    add_usual_texts();
    add_pooling();
    const Value* const causal = file_.find("is_causal");
    if (runtime_.sees_all || (causal != nullptr && *causal == false)) set("attention.causal", false);
    if (runtime_.layer_norm_epsilon != 0) set_float("attention.layer_norm_epsilon", runtime_.layer_norm_epsilon);
    require_field_numbers(config_);
    report_unsupported(model_, family_, file_, changes_);
    for (auto [key, value] : {std::pair("general.type", Value("model")), {"general.quantization_version", Value(2)}})
      if (model_.metadata.find(key) == nullptr) model_.metadata.append(key, std::move(value));
  }

 private:
  void set(std::string_view name, Value value) {
    const std::string key = key_of(family_, name);
    require_key_number(key, value);
    if (model_.metadata.find(key) == nullptr) model_.metadata.append(key, std::move(value));
  }

  void set_float(std::string_view name, double number) {
    require_key_number(key_of(family_, name), Value(number));
    set(name, Value(decimal_double(f64_to_f32(number))));
  }

  void set_count(std::string_view name, double number) {
    if (std::trunc(number) != number) throw refused_setting(key_of(family_, name), "a whole number", Value(number));
    set(name, whole_part(number));
  }

  // The first of its names that config.json has; empty if there is none.
  std::string_view stated_name(const arch::KeyRow& row) const {
    for (const std::string_view name : row.from)
      if (!name.empty() && file_.find(name) != nullptr) return name;
    return {};
  }

  void add_row(const arch::KeyRow& row) {
    if (row.form == KeyForm::groups || row.form == KeyForm::usual_text || row.form == KeyForm::several ||
        row.form == KeyForm::norms)
      return;
    if (row.form == KeyForm::length) {
      const Value* const found = file_.find_outside(row.from[0]);
      const List* const list = found == nullptr ? nullptr : found->get<List>();
      return set(row.key, static_cast<std::int64_t>(list == nullptr ? 0 : list->size()));
    }
    if (row.form == KeyForm::always_text) return set(row.key, row.text);
    if (row.form == KeyForm::always) return set_number(row, row.number);
    if (row.form == KeyForm::never) return set(row.key, false);
    if (row.form == KeyForm::of_type) return set(row.key, file_.model_type() == row.text);
    if (row.form == KeyForm::rank) return add_rank(row);
    const std::string_view name = stated_name(row);
    if (name.empty() && row.form == KeyForm::flag && row.number == 1) return set(row.key, true);
    if (name.empty()) return;
    const Value& said = *file_.find(name);
    if (row.form == KeyForm::word) {
      if (said.text() == nullptr) throw refused_setting(name, "a text", said);
      set(row.key, said);
    } else if (row.form == KeyForm::flag) {
      if (said.get<bool>() == nullptr) throw refused_setting(name, "true or false", said);
      set(row.key, said);
    } else if (row.form == KeyForm::router) {
      add_router(row.key, name, said);
    } else if (row.form == KeyForm::words) {
      add_words(row, name, said);
    } else if (auto number = said.get<List>() != nullptr ? number_in(said) : required_number(name, said)) {
      if (!row.plus.empty()) *number += file_.number(row.plus).value_or(0);
      if (!row.times.empty()) *number *= file_.number(row.times).value_or(0);
      if (!row.per.empty()) *number = std::floor(*number / std::max(file_.number(row.per).value_or(1), 1.0));
      set_number(row, *number);
      if (takes_float(row) && *number == 0 && row.zero != arch::Zero::counts)
        changes_.push_back(unsupported(name, "it is 0, which llama.cpp takes for \"not set\""));
    }
  }

  // The runtime wants these numbers even of models that have none.
  void forget_attention() {
    config_.num_attention_heads = config_.intermediate_size = 0;
    config_.num_key_value_heads.reset();
    config_.head_dim.reset();
    config_.max_position_embeddings = kEndless;
  }

  // config.json may leave it to the class.
  void add_rank(const arch::KeyRow& row) {
    const Value* const said = file_.find(row.from[0]);
    constexpr std::int64_t kShare = 16;
    const std::int64_t size = config_.hidden_size.value_or(0);
    if (said == nullptr || *said == Value("auto")) return set(row.key, size / kShare + (size % kShare > 0 ? 1 : 0));
    set_number(row, required_number(row.from[0], *said));
  }

  void set_number(const arch::KeyRow& row, double number) {
    if (takes_float(row))
      set_float(row.key, number);
    else
      set_count(row.key, number);
  }

  // A number, or a list with the same number for each layer.
  static std::optional<double> number_in(const Value& said) {
    const auto single = single_number(said);
    return single ? resources::number_of(*single) : std::nullopt;
  }

  void add_words(const arch::KeyRow& row, std::string_view name, const Value& said) {
    const List* const words = said.get<List>();
    if (words == nullptr) return;
    List flags;
    for (const Value& word : *words) {
      if (word != Value(row.text) && word != Value(row.otherwise))
        return changes_.push_back(unsupported(
            name, fmt::format("llama.cpp knows no other words than \"{}\" and \"{}\"", row.text, row.otherwise)));
      flags.emplace_back(word == Value(row.text));
    }
    set(row.key, std::move(flags));
  }

  // What holds if nothing else has set the key.
  void add_usual_texts() {
    for (const arch::KeyRows rows : runtime_.keys)
      for (const arch::KeyRow& row : rows)
        if (row.form == KeyForm::usual_text) set(row.key, row.text);
  }

  void add_router(std::string_view key, std::string_view name, const Value& said) {
    const auto found = std::ranges::find_if(arch::kRouters, [&](std::string_view word) { return said == Value(word); });
    if (found != arch::kRouters.end() && !found->empty()) return set(key, found - arch::kRouters.begin());
    changes_.push_back(unsupported(name, "llama.cpp does not know this way to weight experts"));
  }

  void add_width() {
    if (!runtime_.adjusts_width) return;
    const auto size = file_.number("block_ff_dim") ? file_.number("block_ff_dim") : file_.number("intermediate_size");
    const Value* const adjusts = file_.find("block_auto_adjust_ff_dim");
    if (!size) return;
    config_.intermediate_size = adjusts != nullptr && *adjusts == true
                                    ? arch::adjusted_width(*size, file_.number("block_ffn_dim_multiplier"),
                                                           file_.number("block_multiple_of").value_or(1))
                                    : whole_part(*size);
  }

  // Layers without attention have no heads of keys.
  void add_layer_heads() {
    if (runtime_.no_attention.empty()) return;
    const Value* const types = file_.find("layer_types");
    const List* const words = types == nullptr ? nullptr : types->get<List>();
    const std::int64_t layers = std::max<std::int64_t>(config_.num_hidden_layers.value_or(0), 0);
    require_count(static_cast<std::uint64_t>(layers), "layers");
    if (words != nullptr && std::ssize(*words) != layers)
      throw Error(ErrorKind::unsupported, "convert.config",
                  fmt::format("expected a word for each of {} layers in layer_types, found {}", layers, words->size()))
          .about("config.json")
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
    // Without the list, all layers have attention.
    List heads;
    bool all_attend = true;
    for (std::size_t layer = 0; std::cmp_less(layer, layers); ++layer) {
      const std::string* const word = words == nullptr ? nullptr : (*words)[layer].text();
      const bool lacks =
          words == nullptr ? runtime_.usually_no_attention : word != nullptr && runtime_.lacks_attention(*word);
      all_attend = all_attend && !lacks;
      heads.emplace_back(lacks ? std::int64_t{0} : config_.num_key_value_heads.value_or(0));
    }
    set(arch::kKeyHeads, std::move(heads));
    if (runtime_.endless && all_attend)
      throw Error(ErrorKind::unsupported, "convert.config",
                  "all layers have attention: llama.cpp has another architecture for such a model")
          .about("config.json")
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
    if (runtime_.endless) config_.max_position_embeddings = kEndless;
  }

  // Layers of one kind each: GGUF has it as their numbers of heads and rows.
  void add_layer_kinds() {
    if (!runtime_.mixes_layers || file_.empty()) return;
    const std::vector<arch::LayerKind> kinds = stated_layer_kinds(file_);
    require_count(kinds.size(), "layers");
    const std::int64_t rows = runtime_.has_no_experts ? config_.intermediate_size.value_or(0)
                                                      : whole_part(file_.number("moe_intermediate_size").value_or(0));
    List heads, networks;
    for (const arch::LayerKind kind : kinds) {
      const bool network = kind == arch::LayerKind::network || kind == arch::LayerKind::experts;
      heads.emplace_back(kind == arch::LayerKind::attention ? config_.num_key_value_heads.value_or(0) : 0);
      networks.emplace_back(network ? rows : 0);
    }
    set(arch::kKeyHeads, std::move(heads));
    set(kNetworkRows, std::move(networks));
    config_.max_position_embeddings = kEndless;
  }

  // Which layers have a state in place of attention. Without the list, the last of every few has attention.
  void add_state_layers() {
    if (runtime_.state.empty()) return;
    const std::int64_t layers = std::max<std::int64_t>(config_.num_hidden_layers.value_or(0), 0);
    require_count(static_cast<std::uint64_t>(layers), "layers");
    const Value* const types = file_.find("layer_types");
    const List* const words = types == nullptr ? nullptr : types->get<List>();
    if (words != nullptr && std::ssize(*words) > layers)
      throw Error(ErrorKind::unsupported, "convert.config",
                  fmt::format("expected a word for each of {} layers in layer_types, found {}", layers, words->size()))
          .about("config.json")
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
    const std::int64_t usual = layers - next_layers_;
    const std::int64_t period =
        std::max<std::int64_t>(whole_part(file_.number("full_attention_interval").value_or(4)), 1);
    List flags;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      const bool listed = words != nullptr && at < words->size();
      flags.emplace_back(listed ? (*words)[at] == Value(runtime_.state)
                                : words == nullptr && layer < usual && (layer + 1) % period != 0);
    }
    set("attention.recurrent_layers", std::move(flags));
    set("full_attention_interval", period);
  }

  // How many pairs of a head turn with each direction of a position; these are all the same for texts.
  void add_sections() {
    if (!runtime_.states_sections) return;
    constexpr std::size_t kDirections = 4;
    const Value* const said = RopeFile(file_).find("mrope_section");
    const List* const listed = said == nullptr ? nullptr : said->get<List>();
    List sections;
    for (std::size_t i = 0; i < kDirections; ++i) {
      const std::int64_t* const stated =
          listed != nullptr && i < listed->size() ? (*listed)[i].get<std::int64_t>() : nullptr;
      sections.emplace_back(stated != nullptr   ? *stated
                            : listed != nullptr ? std::int64_t{0}
                                                : runtime_.usual_sections[i]);
    }
    set("rope.dimension_sections", std::move(sections));
  }

  // The layers that exist, which config.json does not count.
  void add_present_next_layers() {
    std::int64_t all = config_.num_hidden_layers.value_or(0);
    for (const Tensor& tensor : model_.tensors)
      if (const auto name = arch::parse(family_, arch::Dialect::gguf, tensor.name); name && name->layer)
        all = std::max<std::int64_t>(all, std::int64_t{*name->layer} + 1);
    next_layers_ = all - config_.num_hidden_layers.value_or(0);
    if (next_layers_ == 0 || !config_.num_hidden_layers) return;
    config_.num_hidden_layers = all;
    set("nextn_predict_layers", next_layers_);
  }

  // Layers that predict further tokens come after the last.
  void add_next_layers() {
    if (runtime_.next_layers_apart || runtime_.counts_present_next_layers) return add_present_next_layers();
    const auto further = runtime_.counts_next_layers ? file_.number("num_nextn_predict_layers") : std::nullopt;
    constexpr double kMost = 1024;
    if (further && *further >= 0 && *further <= kMost && config_.num_hidden_layers)
      *config_.num_hidden_layers += static_cast<std::int64_t>(*further);
  }

  // Heads and networks of several sizes.
  void add_layer_sizes() {
    const resources::LayerSizes sizes = resources::layer_sizes(family_, file_, config_);
    if (sizes.layers.empty()) return;
    List heads, rows;
    for (const resources::LayerSize& layer : sizes.layers) {
      heads.emplace_back(layer.keys.value_or(0));
      rows.emplace_back(layer.rows.value_or(0));
    }
    if (sizes.lists_rows) set(kNetworkRows, std::move(rows));
    if (runtime_.shares_keys) set("embedding_length_per_layer_input", std::int64_t{0});
    if (!runtime_.has_two_kinds_of_heads) return;
    if (sizes.states_keys) set(arch::kKeyHeads, std::move(heads));
    const resources::LayerSize *const full = sizes.first(false), *const window = sizes.first(true);
    const auto head_of = [&](const resources::LayerSize* layer) {
      return layer != nullptr && layer->head ? *layer->head : config_.head_dim.value_or(0);
    };
    const std::int64_t all = head_of(full), near = head_of(window);
    config_.head_dim = full != nullptr ? all : near;
    set("attention.key_length_swa", near);
    set("attention.value_length_swa", near);
    set("rope.dimension_count", *config_.head_dim);
    set("rope.dimension_count_swa", near);
  }

  // How many standard deviations from the mean a number in a network must be to count.
  void add_sparsity() {
    const Value* const said = runtime_.has_sparse_networks ? file_.find("activation_sparsity_pattern") : nullptr;
    if (said == nullptr) return;
    const List* const parts = said->get<List>();
    List scales;
    const auto add = [&](const Value& part) {
      const double number = required_number("activation_sparsity_pattern", part);
      if (!(number >= 0 && number < 1))
        throw refused_setting("activation_sparsity_pattern", "numbers from 0 to 1", part);
      scales.emplace_back(decimal_double(quantile(number)));
    };
    for (const Value& part : parts == nullptr ? List() : *parts) add(part);
    for (std::int64_t layer = 0; parts == nullptr && layer < config_.num_hidden_layers.value_or(0); ++layer) add(*said);
    const std::string key = key_of(family_, "activation_sparsity_scale");
    if (model_.metadata.find(key) == nullptr) model_.metadata.append(key, std::move(scales));
  }

  void add_classes() {
    if (!runtime_.names_classes) return;
    if (List names = stated_classes(file_); !names.empty()) set("classifier.output_labels", std::move(names));
  }

  void add_latent_heads() {
    const auto latent = file_.number("kv_lora_rank"), rotated = file_.number("qk_rope_head_dim");
    if (!runtime_.has_latent_attention || !latent || !rotated) return;
    config_.num_key_value_heads = 1;
    config_.head_dim = whole_part(*latent + *rotated);
  }

  // The field of the config holds the epsilon of any kind of norm.
  void add_layer_norm() {
    const auto epsilon = runtime_.layer_norm_key.empty() ? std::nullopt : file_.number(runtime_.layer_norm_key);
    if (epsilon) config_.rms_norm_eps = epsilon;
    if (!runtime_.layer_norm_key.empty() && config_.rms_norm_eps)
      set_float("attention.layer_norm_epsilon", *config_.rms_norm_eps);
  }

  std::int64_t head_size() const {
    if (config_.head_dim.value_or(0) > 0) return *config_.head_dim;
    const std::int64_t heads = config_.num_attention_heads.value_or(0);
    return heads > 0 ? config_.hidden_size.value_or(0) / heads : 0;
  }

  double rotated_part() const {
    const auto inside = RopeFile(file_).number("partial_rotary_factor");
    return inside ? *inside : file_.number(arch::class_of(file_.model_type()).rotated_part_key).value_or(1);
  }

  void add_head_sizes() {
    // Without head_dim, readers derive the size from hidden_size; the field stays unset.
    if (config_.head_dim) set("attention.value_length", *config_.head_dim);
    // llama.cpp refuses another number for these families.
    const bool all = arch::find_step(family_, arch::Role::q, arch::Verb::pair_rows) != nullptr;
    const double part = runtime_.states_rotated ? 1 : rotated_part();
    // Nothing turns in families whose layers are of several kinds: the number is what llama.cpp's converter writes.
    const std::int64_t heads = config_.num_attention_heads.value_or(0);
    const std::int64_t head =
        runtime_.mixes_layers && heads > 0 ? config_.hidden_size.value_or(0) / heads : head_size();
    if ((all || runtime_.rotates_part || runtime_.states_rotated) && head > 0)
      set("rope.dimension_count", whole_part(part * static_cast<double>(head)));
  }

  const Tensor* table(arch::Role role) const {
    const auto name = arch::spell(family_, arch::Dialect::gguf, {.role = role});
    return name ? model_.tensor(*name) : nullptr;
  }

  // Rows of the table of positions that belong to padding do not count. The runtime wants to know how many kinds of
  // tokens there are.
  void add_positions() {
    constexpr std::int64_t kT5Context = 512;
    if (runtime_.activation == arch::Activation::relu_or_gated_gelu && !config_.max_position_embeddings)
      config_.max_position_embeddings = kT5Context;
    if (const arch::Step* const step = arch::find_step(family_, arch::Role::position_embedding, arch::Verb::trim_rows);
        step != nullptr && config_.max_position_embeddings) {
      const auto before = static_cast<std::int64_t>(rows_before_positions(file_, *step));
      const std::int64_t positions = std::max<std::int64_t>(*config_.max_position_embeddings, 0);
      config_.max_position_embeddings = std::max<std::int64_t>(positions - before, 0);
    }
    const Tensor* const types = table(arch::Role::token_types);
    if (types != nullptr && types->shape.rank() == 2 && model_.metadata.find(kTokenTypesKey) == nullptr)
      model_.metadata.append(std::string(kTokenTypesKey), types->shape[0]);
  }

  void add_window() {
    if (runtime_.window_key != "sliding_window")
      if (const auto window = file_.number(runtime_.window_key)) config_.sliding_window = whole_part(*window);
    if (runtime_.requires_window && !config_.sliding_window) set("attention.sliding_window", 0);
    if (runtime_.states_window_period && file_.number("sliding_window_pattern") == 1.0) config_.sliding_window.reset();
    if (runtime_.window_period == 0 || config_.sliding_window.value_or(0) <= 0) return;
    add_layers();
    const Value* const theta = file_.ropes().sliding.find("rope_theta");
    const auto base = theta == nullptr || file_.empty() ? std::nullopt : resources::number_of(*theta);
    if (base) set_float("rope.freq_base_swa", *base);
  }

  // Of `period` layers, the last or the first has none; 0: all have one.
  bool has_window(std::size_t layer, std::size_t period) const {
    if (period == 0) return true;
    return runtime_.first_sees_all ? layer % period != 0 : layer % period + 1 < period;
  }

  static constexpr std::size_t kMostPeriod = 256;
  // Records which layers have the window.
  void add_layers() {
    const auto layers = static_cast<std::size_t>(std::max<std::int64_t>(config_.num_hidden_layers.value_or(0), 0));
    require_count(layers, "layers");
    const auto usual = static_cast<std::size_t>(runtime_.window_period);
    const Value* const types = file_.find("layer_types");
    const List* const list = types == nullptr ? nullptr : types->get<List>();
    if (runtime_.lists_windows && list != nullptr && list->size() >= layers) {
      List windows;
      for (std::size_t layer = 0; layer < layers; ++layer)
        windows.emplace_back((*list)[layer] == Value("sliding_attention"));
      return set("attention.sliding_window_pattern", std::move(windows));
    }
    const auto fits = [&](std::size_t period) {
      for (std::size_t layer = 0; layer < std::min(layers, list->size()); ++layer)
        if (((*list)[layer] == Value("sliding_attention")) != has_window(layer, period)) return false;
      return true;
    };
    std::size_t period = usual;
    if (list == nullptr) {
      const double said = file_.number(runtime_.period_key).value_or(static_cast<double>(usual));
      if (said >= 1 && said <= 1e6) period = static_cast<std::size_t>(said);
    } else if (!fits(usual)) {
      period = 0;
      // The search is bounded: it would be quadratic for a long list without a period.
      while (period <= std::min<std::size_t>(layers, kMostPeriod) && !fits(period)) ++period;
      if (period > std::min<std::size_t>(layers, kMostPeriod))
        return changes_.push_back(
            unsupported("layer_types",
                        fmt::format("llama.cpp lets the last of every {} layers see everything, and no other", usual)));
    }
    if (runtime_.lists_windows) {
      List windows;
      for (std::size_t layer = 0; layer < layers; ++layer) windows.emplace_back(has_window(layer, period));
      return set("attention.sliding_window_pattern", std::move(windows));
    }
    if (period != usual) set("attention.sliding_window_pattern", static_cast<std::int64_t>(period));
  }

  void add_rope() {
    const RopeFile rope(file_);
    const std::string kind = rope.kind();
    const auto factor = rope.number("factor");
    const auto original = rope.number("original_max_position_embeddings");
    if (kind == "dynamic" && runtime_.has_alpha_base) {
      add_alpha(rope);
    } else if (kind == "linear" && factor) {
      set("rope.scaling.type", "linear");
      set_float("rope.scaling.factor", *factor);
    } else if (kind == "yarn" && (factor || original)) {
      add_yarn(rope, factor, original);
    } else if (kind == "longrope" || kind == "su") {
      set("rope.scaling.type", "longrope");
      add_long_rope(original, rope.number("attention_factor"));
    }
    if (runtime_.has_original_context &&
        model_.metadata.find(key_of(family_, "rope.scaling.original_context_length")) == nullptr)
      set_count("rope.scaling.original_context_length",
                file_.number("original_max_position_embeddings")
                    .value_or(static_cast<double>(config_.max_position_embeddings.value_or(0))));
  }

  // Hunyuan: NTK-aware scaling, as a larger base. No number of config.json gives the length of the context.
  void add_alpha(const RopeFile& rope) {
    const auto alpha = rope.number("alpha");
    if (!alpha || head_size() <= 2) return;
    config_.rope_theta = alpha_base(config_.rope_theta.value_or(10000), *alpha, static_cast<double>(head_size()));
    config_.max_position_embeddings = kAlphaContext;
    set("rope.scaling.type", "none");
    set("rope.scaling.factor", 1.0);
    set("rope.scaling.original_context_length", kAlphaContext);
  }

  void add_yarn(const RopeFile& rope, std::optional<double> factor, std::optional<double> original) {
    if (!factor) factor = static_cast<double>(config_.max_position_embeddings.value_or(0)) / *original;
    set("rope.scaling.type", "yarn");
    set_float("rope.scaling.factor", *factor);
    if (original) set_count("rope.scaling.original_context_length", *original);
    const auto attention =
        rope.number("attention_factor") ? rope.number("attention_factor") : rope.number("attn_factor");
    const auto all = rope.number("mscale_all_dim");
    const std::pair<std::string_view, std::optional<double>> more[] = {
        {"rope.scaling.yarn_ext_factor", rope.number("extrapolation_factor")},
        {"rope.scaling.yarn_attn_factor", attention},
        {"rope.scaling.yarn_beta_fast", rope.number("beta_fast")},
        {"rope.scaling.yarn_beta_slow", rope.number("beta_slow")},
        {"rope.scaling.yarn_log_multiplier", log_multiplier(all)},
        {"attention.temperature_scale", runtime_.has_full_yarn ? rope.number("llama_4_scaling_beta") : std::nullopt}};
    for (const auto& [key, number] : more)
      if (number) set_float(key, *number);
    if (runtime_.yarn_log_scale != 0) return;
    // llama.cpp computes the scale of queries and keys by itself and ignores yarn_attn_factor, but multiplies by
    // attn_factor.
    const auto own = rope.number("mscale");
    const double stretched = attention ? *attention
                                       : (own.value_or(0) != 0 && all.value_or(0) != 0
                                              ? yarn_stretch(*factor, *own) / yarn_stretch(*factor, *all)
                                              : yarn_stretch(*factor, 1));
    const double usual = yarn_stretch(*factor, 1) / yarn_stretch(*factor, runtime_.has_full_yarn ? all.value_or(0) : 0);
    if (std::fabs(stretched / usual - 1) > 1e-6) set_float("rope.scaling.attn_factor", stretched / usual);
  }

  std::optional<double> log_multiplier(std::optional<double> all) const {
    if (all && runtime_.yarn_log_scale != 0) return *all * runtime_.yarn_log_scale;
    return runtime_.has_full_yarn ? all : std::nullopt;
  }

  void add_long_rope(std::optional<double> original, std::optional<double> stretch) {
    const auto reached = static_cast<double>(config_.max_position_embeddings.value_or(0));
    if (!original || *original <= 1) return;
    set_count("rope.scaling.original_context_length", *original);
    set_float("rope.scaling.attn_factor", stretch.value_or(long_rope_stretch(reached, *original)));
  }

  // Parses a small attached JSON file; returns nothing if the model has none or it cannot be parsed.
  template <typename Parse>
  auto parsed(std::string_view name, const Parse& parse) const -> std::optional<decltype(parse(std::string_view()))> {
    const Attachment* const file = model_.attachment(name);
    if (file == nullptr) return std::nullopt;
    try {
      const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
      return parse(as_text(bytes));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      return std::nullopt;
    }
  }

  // Records how sentence-transformers pools the vectors of the tokens.
  void add_pooling() {
    const auto modules = parsed(kModulesFile, resources::parse_small_json_list);
    if (!modules) return;
    for (const Value& item : *modules) {
      const Map* const module = item.get<Map>();
      const std::string* const type = module == nullptr ? nullptr : resources::get<std::string>(*module, "type");
      const std::string* const path = module == nullptr ? nullptr : resources::get<std::string>(*module, "path");
      if (type == nullptr || path == nullptr) continue;
      if (type->ends_with("Pooling")) {
        pool(*path);
      } else if (type->ends_with("Dense")) {
        changes_.push_back({.kind = ChangeKind::left_out,
                            .impact = Impact::results,
                            .part = std::string(kModulesFile),
                            .items = {*path},
                            .detail = "llama.cpp computes embeddings without this layer"});
      }
    }
  }

  void pool(const std::string& folder) {
    const std::string name = folder + "/config.json";
    const auto said = parsed(name, resources::parse_small_json);
    const Pooling* chosen = nullptr;
    std::size_t modes = 0;
    if (said)
      for (const auto& [key, value] : *said) {
        const auto by = [&](auto member, const auto& wanted) {
          return std::ranges::find(poolings(), std::string_view(wanted), member);
        };
        const bool flag = key.starts_with("pooling_mode_") && value == true;
        const bool word = key == "pooling_mode" && value.text() != nullptr;
        if (!flag && !word) continue;
        ++modes;
        const auto found = flag ? by(&Pooling::flag, key) : by(&Pooling::word, *value.text());
        if (found != poolings().end()) chosen = &*found;
      }
    if (modes == 1 && chosen != nullptr) return set("pooling_type", chosen->number);
    changes_.push_back({.kind = ChangeKind::left_out,
                        .impact = Impact::results,
                        .part = name,
                        .items = {"pooling_mode"},
                        .detail = "llama.cpp takes the mean, the first or the last of the tokens' vectors, and no "
                                  "other or several"});
  }

  Model& model_;
  const arch::Family& family_;
  const arch::Runtime& runtime_;
  const ConfigFile& file_;
  std::vector<Change>& changes_;
  Config& config_;
  std::int64_t next_layers_ = 0;
};

}  // namespace

std::string key_of(const arch::Family& family, std::string_view name) {
  return fmt::format("{}.{}", family.gguf, name);
}

const Value* RopeFile::find(std::string_view name) const {
  const Value* const found = rope_.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}
std::optional<double> RopeFile::number(std::string_view name) const {
  const Value* const found = find(name);
  return found == nullptr ? std::nullopt
                          : std::optional(required_number(fmt::format("rope_parameters.{}", name), *found));
}
std::string RopeFile::kind() const {
  const Value* const named = find("rope_type");
  return named != nullptr && named->text() != nullptr ? *named->text() : "";
}

double long_rope_stretch(double context, double original) {
  const double scale = original > 1 ? context / original : 1;
  return scale <= 1 ? 1 : std::sqrt(1 + std::log(scale) / std::log(original));
}

std::span<const Pooling> poolings() {
  static constexpr Pooling kPoolings[] = {{1, "mean", "pooling_mode_mean_tokens"},
                                          {2, "cls", "pooling_mode_cls_token"},
                                          {3, "lasttoken", "pooling_mode_lasttoken"}};
  return kPoolings;
}

double yarn_stretch(double factor, double scale) { return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1; }

double alpha_base(double base, double alpha, double head_size) {
  return base * std::pow(alpha, head_size / (head_size - 2));
}

bool takes_float(const arch::KeyRow& row) {
  return declared_type(fmt::format("{{}}.{}", row.key)) == EntryType{ValueType::f32, false};
}

std::vector<arch::LayerKind> stated_layer_kinds(const ConfigFile& file) {
  const Value* said = file.find(arch::kLayerKinds);
  if (said == nullptr) said = file.find(arch::kLayerLetters);
  auto kinds = said == nullptr ? std::nullopt : arch::layer_kinds(*said);
  if (!kinds) throw refused_setting(arch::kLayerKinds, "the kind of each layer", said == nullptr ? Value() : *said);
  const auto layers = file.number("num_hidden_layers");
  if (layers && *layers != static_cast<double>(kinds->size()))
    throw refused_setting(arch::kLayerKinds, fmt::format("the kind of each of {} layers", *layers), *said);
  return std::move(*kinds);
}

void adopt_keys(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes) {
  KeyAdopter(model, family, config, changes).run();
}

}  // namespace tare::gguf::llama_cpp
