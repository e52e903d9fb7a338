// Converts from llama.cpp's conventions back to Hugging Face's: the tensors, and the files with everything else.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/defaults.hpp"
#include "arch/model_classes.hpp"
#include "arch/qk_rows.hpp"
#include "base/budget.hpp"
#include "base/glob.hpp"
#include "base/json_writer.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "formats/gguf/arch_keys.hpp"
#include "formats/gguf/conventions.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf {
namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;

// The role of a single expert's tensor, given that of the stack of all experts.
std::optional<Role> unstacked(Role role) {
  switch (role) {
    case Role::stacked_gate: return Role::expert_gate;
    case Role::stacked_up: return Role::expert_up;
    case Role::stacked_down: return Role::expert_down;
    default: return std::nullopt;
  }
}

bool is_rope_table(Role role) {
  return role == Role::rope_factors || role == Role::rope_factors_long || role == Role::rope_factors_short;
}

// Returns whether Hugging Face's models do not have the tensor: factors that config.json states, and, if config.json is
// attached, a head that adopt.cpp copied from the token table.
bool is_omitted(const Tensor& tensor, Role role, bool has_config) {
  return is_rope_table(role) || (has_config && role == Role::output_head && tensor.attributes.find(kCopied) != nullptr);
}

// Groups of matrices that have biases together.
constexpr auto kInputBiases = {Role::q, Role::k, Role::v};
constexpr auto kAttentionBiases = {Role::q, Role::k, Role::v, Role::o};
constexpr auto kFfnBiases = {Role::gate, Role::up, Role::down};

// Returns whether the two conventions order the rows of such a tensor differently.
bool moves_rows(const arch::Family& family, Role role) {
  return (role == Role::q || role == Role::k) &&
         arch::qk_order(family, Dialect::gguf) != arch::qk_order(family, Dialect::hugging_face);
}

class TensorReleaser {
 public:
  TensorReleaser(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                 std::vector<Renamed>& renamed)
      : model_(model),
        family_(family),
        way_(way),
        changes_(changes),
        renamed_(renamed),
        head_rows_(family, model.config) {}

  void run() {
    std::vector<std::string> strangers;
    for (const Tensor& tensor : model_.tensors)
      if (!arch::parse(family_, Dialect::gguf, tensor.name)) strangers.push_back(quote(tensor.name));
    if (!strangers.empty())
      throw Error(ErrorKind::unsupported, "convert.names",
                  fmt::format("what the tensors {} of a {} model are called elsewhere is not known",
                              fmt::join(strangers, ", "), family_.name))
          .remedy(Remedy::keep_names);
    for (Tensor& tensor : model_.tensors) {
      TensorName name = *arch::parse(family_, Dialect::gguf, tensor.name);
      name.root = way_.root;
      if (!is_omitted(tensor, name.role, way_.has_config)) add(std::move(tensor), name);
    }
    if (way_.has_config) add_head();
    if (!way_.has_config) complete_biases();
    model_.tensors = std::move(out_);
    changes_.push_back(
        {.impact = Impact::detail,
         .detail = fmt::format("{} tensors have Hugging Face's names and order of rows", model_.tensors.size())});
  }

 private:
  void add(Tensor tensor, TensorName name) {
    restore(tensor, name);
    // Splits experts into single tensors, which every version of the libraries accepts.
    const auto single = unstacked(name.role);
    const auto spelled = arch::spell(family_, Dialect::hugging_face, name);
    if (!single && spelled) {
      renamed_.push_back({tensor.name, *spelled});
      tensor.name = *spelled;
      return out_.push_back(std::move(tensor));
    }
    if (!single || tensor.shape.rank() != 3)
      throw Error(ErrorKind::unsupported, "convert.names",
                  fmt::format("Hugging Face's name for {} is not known", quote(tensor.name)))
          .remedy(Remedy::keep_names);
    // Only elements bound the count: a stack without elements could state 2^33 experts in a few bytes.
    if (tensor.shape.elements().value_or(0) == 0)
      throw Error(ErrorKind::unsupported, "convert.names",
                  fmt::format("{} is a stack of {} experts without elements", quote(tensor.name), tensor.shape[0]))
          .remedy(Remedy::keep_names);
    name.role = *single;
    tensor = to_dense(tensor);
    for (std::uint64_t expert = 0; expert < tensor.shape[0]; ++expert) {
      Tensor one = slice(tensor, parse_slice(fmt::format("{}", expert)));
      name.expert = static_cast<std::uint32_t>(expert);
      one.name = arch::spell(family_, Dialect::hugging_face, name).value();
      renamed_.push_back({tensor.name, one.name});
      out_.push_back(std::move(one));
    }
  }

  // Restores a head that adopt.cpp omitted because it equals the token table, if config.json does not tie the two.
  void add_head() {
    if (family_.head != arch::Presence::never) return;
    const ConfigFile config(model_);
    const Value* const tied = config.find("tie_word_embeddings");
    if (tied == nullptr || *tied != false) return;
    const auto name = [&](Role role) {
      return arch::spell(family_, Dialect::hugging_face, {.role = role, .root = way_.root}).value_or("");
    };
    const auto table = std::ranges::find(out_, name(Role::token_embedding), &Tensor::name);
    if (table == out_.end() || name(Role::output_head).empty()) return;
    Tensor head = *table;
    head.name = name(Role::output_head);
    out_.push_back(std::move(head));
  }

  // llama.cpp accepts any of these biases. A class has all of a group, or none; a bias of zeros means that there is
  // none. A bias that the class does not have at all is an error: without it, the model computes something else.
  void complete_biases() {
    const arch::ModelClass& type = arch::class_of(model_.config.model_type.value_or(""));
    std::vector<Role> known;
    std::size_t zeros = 0;
    const auto complete = [&](std::initializer_list<Role> roles) {
      for (const Role role : roles) known.push_back(role);  // GCC 12 warns about an insertion of all of them
      zeros += add_zeros(roles);
    };
    if (type.attention_bias)
      complete(kAttentionBiases);
    else if (type.has_input_biases)
      complete(kInputBiases);
    if (type.mlp_bias) complete(kFfnBiases);
    if (zeros > 0)
      changes_.push_back({.impact = Impact::detail,
                          .detail = fmt::format("{} biases of zeros were added: config.json cannot say that only some "
                                                "matrices have biases",
                                                zeros)});
    std::vector<std::string> unread;
    for (const Tensor& tensor : out_) {
      const auto name = arch::parse(family_, Dialect::hugging_face, tensor.name);
      if (name && name->suffix == arch::Suffix::bias && std::ranges::find(known, name->role) == known.end())
        unread.push_back(tensor.name);
    }
    if (unread.empty()) return;
    // In the names of the input, which the option uses.
    const auto origin = std::ranges::find(renamed_, unread.front(), &Renamed::after);
    const std::string glob = unread.size() > 1          ? (known.empty() ? "*.bias" : "")
                             : origin == renamed_.end() ? ""
                                                        : escape_glob(origin->before);
    throw Error(ErrorKind::unsupported, "convert.surplus",
                fmt::format("a {} model of transformers has no such biases, and would compute something else: {}",
                            model_.config.model_type.value_or(""), listed_names(unread, 4)))
        .blame(Subject::input)
        .remedy(Remedy::skip, glob)
        .remedy(Remedy::keep_names);
  }

  // Gives all matrices of these roles a bias if any of them has one. Returns how many it added.
  std::size_t add_zeros(std::initializer_list<Role> roles) {
    NameViewMap<const Tensor*> tensors;
    const Tensor* some = nullptr;
    std::vector<std::pair<const Tensor*, TensorName>> weights;
    for (const Tensor& tensor : out_) {
      tensors.emplace(tensor.name, &tensor);
      const auto name = arch::parse(family_, Dialect::hugging_face, tensor.name);
      if (!name || std::ranges::find(roles, name->role) == roles.end()) continue;
      if (name->suffix == arch::Suffix::weight)
        weights.emplace_back(&tensor, *name);
      else if (tensor.is_dense())
        some = &tensor;
    }
    if (some == nullptr) return 0;
    const DType type = some->components.front().dtype;
    std::vector<Tensor> zeros;
    for (auto& [weight, name] : weights) {
      name.suffix = arch::Suffix::bias;
      const std::string bias = arch::spell(family_, Dialect::hugging_face, name).value_or("");
      if (bias.empty() || tensors.contains(bias) || weight->shape.rank() != 2 || weight->shape[1] == 0) continue;
      const std::vector<float> values(static_cast<std::size_t>(weight->shape[0]));
      zeros.push_back(cast(dense<float>(bias, {weight->shape[0]}, values), type));
    }
    std::ranges::move(zeros, std::back_inserter(out_));
    return zeros.size();
  }

  // Restores values that rounding changed, unless another program has changed them since.
  void restore_rounded(Tensor& tensor, std::vector<float>& values) const {
    const Value* const kept = tensor.attributes.find(kRounded);
    const List* const pairs = kept == nullptr ? nullptr : kept->get<List>();
    for (std::size_t i = 0; pairs != nullptr && i + 1 < pairs->size(); i += 2) {
      const auto* const place = (*pairs)[i].get<std::int64_t>();
      const auto* const value = (*pairs)[i + 1].get<double>();
      if (place == nullptr || value == nullptr || *place < 0 || static_cast<std::size_t>(*place) >= values.size())
        continue;
      float& now = values[static_cast<std::size_t>(*place)];
      const auto exact = static_cast<float>(*value);
      if (exact + family_.norm_shift - family_.norm_shift == now) now = exact;
    }
    tensor.attributes.erase(kRounded);
  }

  void restore(Tensor& tensor, const TensorName& name) {
    const arch::QkOrder to = arch::qk_order(family_, Dialect::hugging_face);
    const bool moves = moves_rows(family_, name.role);
    const auto heads = arch::rotated_heads(name.role, model_.config);
    if (moves && !heads)
      throw Error(ErrorKind::unsupported, "convert.names",
                  "the number of heads, which determines the row order of q and k, is unknown")
          .about("tensor " + quote(tensor.name))
          .remedy(Remedy::keep_names);
    if (moves) try {
        head_rows_.check(tensor.shape.empty() ? 0 : tensor.shape[0], *heads);
        if (tensor.is_dense())
          tensor = arch::reorder_qk(tensor, *heads, to);
        else
          tensor.components.front().blob =
              arch::reorder_qk(tensor.components.front().blob, tensor.shape[0], *heads, to);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        throw Error(ErrorKind::unsupported, "convert.names", error.sentence())
            .about("tensor " + quote(tensor.name))
            .blame(Subject::input)
            .remedy(Remedy::keep_names);
      }
    if (arch::is_norm(name.role) && family_.norm_shift != 0 && name.suffix == arch::Suffix::weight &&
        tensor.is_dense()) {
      std::vector<float> values = tensor.values<float>();
      for (float& value : values) value -= family_.norm_shift;
      restore_rounded(tensor, values);
      Map attributes = std::move(tensor.attributes);
      tensor = dense<float>(tensor.name, tensor.shape, values);
      tensor.attributes = std::move(attributes);
    }
    const Value* const was = tensor.attributes.find(kWasType);
    const auto type = was == nullptr || was->text() == nullptr ? std::nullopt : parse_dtype(*was->text());
    if (type && is_float(*type) && tensor.is_dense()) {
      Map attributes = std::move(tensor.attributes);
      attributes.erase(kWasType);
      tensor = cast(tensor, *type);
      tensor.attributes = std::move(attributes);
    }
  }

  Model& model_;
  const arch::Family& family_;
  const Way& way_;
  std::vector<Change>& changes_;
  std::vector<Renamed>& renamed_;
  arch::HeadRows head_rows_;
  std::vector<Tensor> out_;
};

// ---- files ----

class FileReleaser {
 public:
  FileReleaser(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes)
      : model_(model), family_(family), way_(way), changes_(changes), keys_(model, family) {}

  void run() {
    keys_.ignore("pooling_type");  // for config.json: other files state it
    if (!way_.has_config && !model_.config.empty()) attach("config.json", config_json());
    if (model_.attachment(kModulesFile) == nullptr) attach_pooling();
    const bool has_tokenizer = std::ranges::any_of(
        model_.attachments, [](const Attachment& file) { return resources::holds_vocabulary(file.name); });
    if (has_tokenizer || model_.vocabulary.tokens.empty()) return;
    drop_padding();
    const resources::TokenizerRules rules = tokenizer_rules();
    attach("tokenizer.json", resources::tokenizer_json(model_.vocabulary, &rules));
    attach("tokenizer_config.json", tokenizer_config());
  }

 private:
  void attach(std::string name, const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    model_.attachments.push_back({std::move(name), Blob::memory(Bytes(bytes.begin(), bytes.end()))});
  }

  // Drops tokens that a converter added so that each row of the token table has one: tokenizer.json does not list such
  // rows, and converting to GGUF adds them again.
  void drop_padding() {
    std::vector<Token>& tokens = model_.vocabulary.tokens;
    const Vocabulary& ids = model_.vocabulary;
    const auto last = static_cast<std::int64_t>(tokens.size()) - 1;
    std::int64_t end = last;
    while (end > std::max({ids.bos, ids.eos, ids.pad, ids.unk}) &&
           tokens[static_cast<std::size_t>(end)].type == TokenType::unused &&
           tokens[static_cast<std::size_t>(end)].text == pad_text(end))
      --end;
    if (end >= 0) tokens.resize(static_cast<std::size_t>(end) + 1);
  }

  // Attaches the files that sentence-transformers reads for a model that makes one vector of a text.
  void attach_pooling() {
    const auto number = this->number("pooling_type");
    const auto pooling = std::ranges::find_if(
        poolings(), [&](const Pooling& one) { return static_cast<double>(one.number) == number.value_or(-1); });
    if (pooling == poolings().end() && number.value_or(0) > 0)
      report_key("pooling_type", fmt::format("the way {} of pooling the vectors of the tokens is not known", *number));
    if (pooling == poolings().end()) return;
    const auto module = [](std::int64_t index, std::string_view path, std::string_view type) {
      Map entry;
      entry.append("idx", index);
      entry.append("name", fmt::format("{}", index));
      entry.append("path", std::string(path));
      entry.append("type", fmt::format("sentence_transformers.models.{}", type));
      return Value(std::move(entry));
    };
    const JsonStyle style{.indent = 2};
    attach(std::string(kModulesFile),
           write_json(Value(List{module(0, "", "Transformer"), module(1, kPoolingFolder, "Pooling")}), style) + '\n');
    Map settings;
    settings.append("word_embedding_dimension", model_.config.hidden_size.value_or(0));
    for (const Pooling& one : poolings()) settings.append(std::string(one.flag), &one == &*pooling);
    attach(fmt::format("{}/config.json", kPoolingFolder), write_json(settings, style) + '\n');
  }

  std::optional<double> number(std::string_view name) const { return keys_.number(name); }
  bool flag(std::string_view full_key, bool otherwise) const {
    const Value* const found = model_.metadata.find(full_key);
    return found != nullptr && found->get<bool>() != nullptr ? *found->get<bool>() : otherwise;
  }
  const Tensor* table(Role role) const {
    const auto name = arch::spell(family_, Dialect::gguf, {.role = role});
    return name ? model_.tensor(*name) : nullptr;
  }

  std::string config_json() {
    Map keys = resources::parse_small_json(resources::config_json(model_.config, model_.vocabulary));
    const HubClass hub = hub_class();
    keys.set("model_type", hub.type);
    model_.config.model_type = hub.type;
    keys.set("architectures", List{Value(hub.name)});
    add_extras(keys);
    keys.set("tie_word_embeddings", table(Role::output_head) == nullptr);
    if (const Tensor* const embedding = table(Role::token_embedding);
        embedding != nullptr && embedding->shape.rank() == 2)
      keys.set("vocab_size", static_cast<std::int64_t>(embedding->shape[0]));
    for (const auto& [name, value] : llama_cpp_assumptions(family_, model_.config)) keys.set(name, value);
    if (model_.config.sliding_window == 0) keys.erase("sliding_window");
    fill_in_unstated(keys, hub.type);
    add_layers(keys);
    add_heads(keys);
    add_biases(keys, hub.type);
    if (keys_.flag("attention.causal") == false && family_.runtime.bidirectional != true) keys.set("is_causal", false);
    add_rope(keys);
    require_sizes();
    report_window(hub.type);
    report_unread();
    return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
  }

  // Sets the keys that have no field in Config. For most of them, llama.cpp takes 0 for "not set"; transformers would
  // compute with it.
  void add_extras(Map& keys) const {
    for (const ExtraKey& extra : extra_keys()) {
      const auto found = family_.runtime.reads(extra.group) ? number(extra.key) : std::nullopt;
      if (!found) continue;
      const std::string_view name = extra.key == "expert_count" ? family_.runtime.experts_key : extra.from[0];
      if (*found != 0)
        keys.set(name, extra.type == ValueType::f32 ? Value(*found) : Value(static_cast<std::int64_t>(*found)));
      else if (extra.group == arch::KeyGroup::soft_caps)
        keys.set(name, Value());
    }
  }

  void add_heads(Map& keys) {
    const auto head = static_cast<double>(head_size());
    if (const auto rotated = number("rope.dimension_count"); rotated && *rotated != head) {
      if (family_.runtime.rotates_part && *rotated > 0 && *rotated < head)
        keys.set("partial_rotary_factor", *rotated / head);
      else
        report_key(
            "rope.dimension_count",
            fmt::format("{} of {} elements of a head are rotated, and transformers rotates all", *rotated, head));
    }
    if (const auto size = number("attention.value_length"); size && *size != head)
      report_key("attention.value_length",
                 fmt::format("values have heads of {} elements, and transformers expects {}", *size, head));
  }

  void add_biases(Map& keys, std::string_view type) const {
    const arch::ModelClass& reads = arch::class_of(type);
    if (reads.attention_bias && has_bias(kAttentionBiases)) keys.set("attention_bias", true);
    if (reads.mlp_bias && has_bias(kFfnBiases)) keys.set("mlp_bias", true);
    if (reads.qkv_bias && !has_bias(kInputBiases)) keys.set("qkv_bias", false);
  }

  // Throws `convert.config` if sizes are missing that llama.cpp needs, too: readers of config.json would assume others.
  void require_sizes() const {
    const Map fields = model_.config.to_map();
    std::vector<std::string> missing;
    for (const OwnField& own : kOwnFields)
      for (const std::string_view field :
           {"hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads"})
        if (own.field == field && fields.find(field) == nullptr) missing.push_back(key_of(family_, own.name));
    const bool mixture = arch::class_of(family_.model_types.front()).experts != arch::Experts::none;
    if (mixture || number("expert_count").value_or(0) > 0)
      for (const std::string_view name : {"expert_count", "expert_used_count"})
        if (number(name).value_or(0) <= 0) missing.push_back(key_of(family_, name));
    if (!missing.empty())
      throw Error(
          ErrorKind::unsupported, "convert.config",
          fmt::format("expected the keys {}, from which config.json is made, found none", fmt::join(missing, ", ")))
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
  }

  void report_window(std::string_view type) {
    if (model_.config.sliding_window.value_or(0) > 0 && !arch::class_of(type).has_window)
      report_key("attention.sliding_window", fmt::format("a {} model of transformers has no window", type));
  }

  // Warns about keys that nothing above has read, unless they change nothing.
  void report_unread() {
    std::vector<std::string> unknown;
    for (const std::string& name : keys_.unread())
      if (!is_neutral(name)) unknown.push_back(key_of(family_, quote(name)));
    if (!unknown.empty())
      changes_.push_back({.kind = ChangeKind::left_out,
                          .impact = Impact::results,
                          .part = "config.json",
                          .items = std::move(unknown),
                          .detail = "no key of config.json is known for it, so programs that read the directory may "
                                    "compute something else"});
  }

  // Returns whether a key does not matter, or has the value that it would have if it were missing.
  bool is_neutral(std::string_view name) const {
    constexpr std::string_view kHarmless[] = {"tensor_data_layout", "rope.scaling.finetuned",
                                              "rope.scaling.original_context_length"};
    struct Neutral {
      std::string_view name;
      double value, other;
    };
    constexpr Neutral kNeutral[] = {{"attn_logit_softcapping", 0, 0},
                                    {"attention.clamp_kqv", 0, 0},
                                    {"attention.max_alibi_bias", 0, 0},
                                    {"attention.scale", 0, 0},
                                    {"attention.sliding_window_pattern", 0, 0},
                                    {"attention.temperature_scale", 0, 0},
                                    {"embedding_scale", 0, 1},
                                    {"expert_count", 0, 0},
                                    {"expert_gating_func", 0, 1},
                                    {"expert_group_count", 0, 1},
                                    {"expert_group_used_count", 0, 1},
                                    {"expert_shared_count", 0, 0},
                                    {"expert_used_count", 0, 0},
                                    {"expert_weights_scale", 0, 1},
                                    {"final_logit_softcapping", 0, 0},
                                    {"leading_dense_block_count", 0, 0},
                                    {"logit_scale", 0, 1},
                                    {"nextn_predict_layers", 0, 0},
                                    {"residual_scale", 0, 1},
                                    {"rope.scaling.attn_factor", 1, 1},
                                    {"rope.scaling.yarn_attn_factor", 1, 1},
                                    {"rope.scaling.yarn_beta_fast", 32, 32},
                                    {"rope.scaling.yarn_beta_slow", 1, 1},
                                    {"rope.scaling.yarn_ext_factor", 1, 1},
                                    {"rope.scaling.yarn_log_multiplier", 0, 0},
                                    {"use_parallel_residual", 0, 0}};
    if (std::ranges::find(kHarmless, name) != std::end(kHarmless)) return true;
    const Value& value = *keys_.find(name);
    const bool* const flag = value.get<bool>();
    const auto single = single_number(value);
    if (!single && flag == nullptr) return false;
    const double number = flag != nullptr ? static_cast<double>(*flag) : resources::number_of(*single).value();
    const auto is = [&](double usual) { return std::fabs(number - usual) <= 1e-6 * std::fabs(usual); };
    if (name == "rope.freq_base_swa") return is(model_.config.rope_theta.value_or(10000));
    if (name == "attention.layer_norm_epsilon") return family_.runtime.has_layer_norms && is(1e-5);
    // llama.cpp hard-codes it for each of the mixtures.
    if (name == "expert_weights_norm") return is(family_.runtime.normalizes_experts.value_or(true) ? 1 : 0);
    if (name.ends_with("_swa")) return is(static_cast<double>(head_size()));
    const auto found = std::ranges::find(kNeutral, name, &Neutral::name);
    return found != std::end(kNeutral) && (is(found->value) || is(found->other));
  }

  void report_key(std::string_view name, std::string detail) {
    changes_.push_back({.kind = ChangeKind::left_out,
                        .impact = Impact::results,
                        .part = "config.json",
                        .items = {key_of(family_, name)},
                        .detail = std::move(detail)});
  }

  // Fills in keys that the file does not have, if llama.cpp's default differs from that of transformers for the type.
  void fill_in_unstated(Map& keys, std::string_view type) const {
    const auto fill = [&](std::string_view key, Value value) {
      if (keys.find(key) == nullptr) keys.set(key, std::move(value));
    };
    const auto assumed = [&](std::string_view key) {
      return std::ranges::find(arch::assumed_keys(type), key, &arch::Assumed::key) != arch::assumed_keys(type).end();
    };
    const std::int64_t head = head_size();
    if (model_.config.num_attention_heads) fill("num_key_value_heads", *model_.config.num_attention_heads);
    if (assumed("head_dim") && head > 0) fill("head_dim", head);
    fill("rope_theta", 10000.0);
    if (arch::class_of(type).assumes_window) fill("sliding_window", Value());
    if (family_.runtime.reads(arch::KeyGroup::scales) && head > 0)
      fill("attention_multiplier", 1 / std::sqrt(static_cast<double>(head)));
    // Without the key, llama.cpp uses a window in no layer.
    const std::int64_t layers = model_.config.num_hidden_layers.value_or(0);
    if (!family_.runtime.states_window_period || model_.config.sliding_window.value_or(0) > 0 || layers <= 0) return;
    require_count(static_cast<std::uint64_t>(layers), "layers");
    keys.set("layer_types", List(static_cast<std::size_t>(layers), Value("full_attention")));
  }

  // Returns whether any layer has one.
  bool has_bias(std::initializer_list<Role> roles) const {
    return std::ranges::any_of(model_.tensors, [&](const Tensor& tensor) {
      const auto name = arch::parse(family_, Dialect::gguf, tensor.name);
      return name && name->suffix == arch::Suffix::bias && std::ranges::find(roles, name->role) != roles.end();
    });
  }

  // One architecture of llama.cpp covers several families of Hugging Face's.
  struct HubClass {
    std::string_view type;
    std::string name;
  };
  HubClass hub_class() const {
    HubClass hub = hub_class_with_head();
    // The class without a head; its tensor names begin without "model.".
    constexpr std::string_view kWithHead = "ForCausalLM";
    if (way_.root == arch::Root::bare && hub.name.ends_with(kWithHead))
      hub.name.replace(hub.name.size() - kWithHead.size(), kWithHead.size(),
                       hub.type.ends_with("_text") ? "TextModel" : "Model");
    return hub;
  }
  HubClass hub_class_with_head() const {
    const auto holds = [&](const arch::Variant& variant) {
      switch (variant.when) {
        case arch::When::always: return true;
        case arch::When::has_experts: return number("expert_count").value_or(0) > 0;
        case arch::When::states_type: return model_.config.model_type == variant.model_type;
        case arch::When::lacks_yarn: return !is_yarn();
        case arch::When::has_window: return model_.config.sliding_window.value_or(0) > 0;
      }
      return false;
    };
    const auto variant = std::ranges::find_if(family_.variants, holds);
    if (variant != family_.variants.end()) return {variant->model_type, std::string(variant->architecture)};
    return {family_.model_types.front(), std::string(family_.architectures.front())};
  }

  bool is_yarn() const {
    const std::string* const kind = keys_.text("rope.scaling.type");
    return kind != nullptr && *kind == "yarn";
  }

  std::int64_t head_size() const {
    const Config& config = model_.config;
    const std::int64_t heads = config.num_attention_heads.value_or(0);
    return config.head_dim.value_or(heads > 0 ? config.hidden_size.value_or(0) / heads : 0);
  }

  // Sets which layers have a window, and the rotary base of those.
  void add_layers(Map& keys) const {
    if (family_.runtime.window_period == 0) return;
    if (model_.config.sliding_window.value_or(0) <= 0) {
      // Without a window, all layers are alike.
      keys_.ignore("attention.sliding_window_pattern");
      keys_.ignore("rope.freq_base_swa");
      return;
    }
    require_count(static_cast<std::uint64_t>(std::max<std::int64_t>(model_.config.num_hidden_layers.value_or(0), 0)),
                  "layers");
    const auto layers =
        static_cast<std::size_t>(std::max<std::int64_t>(model_.config.num_hidden_layers.value_or(0), 0));
    const std::vector<bool> windows = layers_with_window(layers);
    List types;
    for (const bool window : windows) types.emplace_back(window ? "sliding_attention" : "full_attention");
    if (!types.empty()) keys.set("layer_types", std::move(types));
    if (!family_.runtime.states_window_period) return;
    if (const auto base = number("rope.freq_base_swa")) keys.set("rope_local_base_freq", *base);
  }

  // From a period, or a list with a flag for each layer.
  std::vector<bool> layers_with_window(std::size_t layers) const {
    constexpr std::string_view kKey = "attention.sliding_window_pattern";
    std::vector<bool> windows(layers);
    const Value* const pattern = keys_.find(kKey);
    if (const List* const flags = pattern == nullptr ? nullptr : pattern->get<List>()) {
      if (flags->size() < layers)
        throw keys_.refused(kKey, *pattern, fmt::format("a flag for each of {} layers", layers));
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const Value& item = (*flags)[layer];
        const bool* const flag = item.get<bool>();
        if (flag == nullptr && !resources::number_of(item)) throw keys_.refused(kKey, *pattern, "flags");
        windows[layer] = flag != nullptr ? *flag : resources::number_of(item) != 0;
      }
      return windows;
    }
    const double said = number(kKey).value_or(static_cast<double>(family_.runtime.window_period));
    const auto period = said >= 1 && said <= 1e9 ? static_cast<std::size_t>(said) : 0;
    for (std::size_t layer = 0; layer < layers; ++layer) windows[layer] = period == 0 || layer % period + 1 < period;
    return windows;
  }

  void add_rope(Map& keys) {
    Map scaling;
    const std::string* const said = keys_.text("rope.scaling.type");
    // llama.cpp's default. An earlier name of the factor counts if there is no other.
    const std::string kind = said == nullptr ? "linear" : *said;
    const auto older = number("rope.scale_linear");
    const auto newer = number("rope.scaling.factor");
    const double stated = newer ? *newer : older.value_or(0), factor = stated == 0 || kind == "none" ? 1 : stated;
    const Tensor *const far = table(Role::rope_factors_long), *const near = table(Role::rope_factors_short);
    const Tensor* const divisors = table(Role::rope_factors);
    const bool divides = divisors != nullptr && !is_all_ones(*divisors);
    if (far != nullptr || near != nullptr) {
      // llama.cpp's converter writes these tables and no type: the tables imply longrope.
      scaling = long_rope(keys, far, near);
      if (kind == "yarn" || factor != 1)
        report_key("rope.scaling.factor",
                   "positions are scaled by tables of divisors, which cannot be combined with it");
    } else if (kind == "yarn") {
      scaling.append("rope_type", kind);
      scaling.append("factor", factor);
      if (const auto original = number("rope.scaling.original_context_length"))
        scaling.append("original_max_position_embeddings", static_cast<std::int64_t>(*original));
      add_yarn(scaling);
    } else if (kind == "linear" && factor != 1) {
      scaling.append("rope_type", kind);
      scaling.append("factor", factor);
    } else if (kind != "linear" && kind != "none") {
      report_key("rope.scaling.type", kind == "longrope" ? "the file has no tables of divisors for it"
                                                         : fmt::format("\"{}\" is not known", quote(kind)));
    }
    if (divides && scaling.empty())
      scaling = llama3(divisors->values<float>());
    else if (divides)
      report_rope("rope_scaling", "the divisors in rope_freqs.weight cannot be combined with the scaling of the keys");
    add_layer_ropes(keys, scaling);
    if (scaling.empty()) return;
    if (!family_.runtime.has_full_yarn) return keys.set("rope_scaling", std::move(scaling));
    scaling.set("rope_theta", model_.config.rope_theta.value_or(10000));
    if (is_yarn()) {
      scaling.set("llama_4_scaling_beta", number("attention.temperature_scale").value_or(0));
      // llama.cpp's default is the length before scaling, which is the only one that transformers knows.
      const auto length = number("attention.temperature_length");
      if (length && length != number("rope.scaling.original_context_length"))
        report_key("attention.temperature_length", "transformers takes the length of the context before scaling");
    }
    keys.set("rope_parameters", std::move(scaling));
  }

  // OLMo 3: transformers 5 applies the theta at the top of config.json to layers with full attention, and a default of
  // its own to the others. llama.cpp has one theta for all unless a key overrides it, and scales positions only in the
  // former.
  void add_layer_ropes(Map& keys, const Map& scaling) const {
    const Value* const type = keys.find("model_type");
    if (type == nullptr || type->text() == nullptr || !arch::has_ropes_by_layer(*type->text())) return;
    if (family_.runtime.states_window_period || !model_.config.rope_theta) return;
    Map full = scaling, sliding;
    if (full.find("rope_type") == nullptr) full.set("rope_type", "default");
    full.set("rope_theta", *model_.config.rope_theta);
    sliding.set("rope_type", "default");
    sliding.set("rope_theta", number("rope.freq_base_swa").value_or(*model_.config.rope_theta));
    Map both;
    both.append("full_attention", std::move(full));
    both.append("sliding_attention", std::move(sliding));
    keys.set("rope_parameters", std::move(both));
  }

  // Builds the longrope object from the tables of divisors for long and short texts. Phi 3's readers accept only these
  // three names and have the original context length at the top of config.json.
  Map long_rope(Map& keys, const Tensor* far, const Tensor* near) {
    const bool phi = family_.runtime.has_original_context;
    Map scaling;
    scaling.append(phi ? "type" : "rope_type", "longrope");
    for (const auto& [name, table, other] :
         {std::tuple("long_factor", far, near), std::tuple("short_factor", near, far)}) {
      const Tensor* const factors = table != nullptr ? table : other;
      List list;
      for (const float value : factors->values<float>()) list.emplace_back(static_cast<double>(value));
      scaling.append(name, std::move(list));
      if (table == nullptr)
        report_rope(name, "the file has one table of divisors, which is used for texts of any length");
    }
    const auto original = number("rope.scaling.original_context_length");
    const auto context = static_cast<double>(model_.config.max_position_embeddings.value_or(0));
    if (!original || *original < 2)
      report_rope("original_max_position_embeddings",
                  "the file does not say from which length of a text on the divisors for long texts count");
    else if (phi)
      keys.set("original_max_position_embeddings", static_cast<std::int64_t>(*original));
    else
      scaling.append("original_max_position_embeddings", static_cast<std::int64_t>(*original));
    if (!phi && original && *original >= 2 && context > 0) scaling.append("factor", context / *original);
    // Without the key, llama.cpp does not scale.
    const double stretch = number("rope.scaling.attn_factor").value_or(1);
    if (std::fabs(stretch / long_rope_stretch(context, original.value_or(0)) - 1) > 1e-6)
      scaling.append("attention_factor", stretch);
    return scaling;
  }

  void report_rope(std::string_view name, std::string detail) {
    changes_.push_back({.kind = ChangeKind::remark,
                        .impact = Impact::results,
                        .part = "config.json",
                        .items = {std::string(name)},
                        .detail = fmt::format("{}: {}", name, detail)});
  }

  void add_yarn(Map& scaling) const {
    for (const auto& [name, from] :
         {std::pair("beta_fast", "rope.scaling.yarn_beta_fast"), std::pair("beta_slow", "rope.scaling.yarn_beta_slow"),
          std::pair("attention_factor", "rope.scaling.yarn_attn_factor")})
      if (const auto found = number(from)) scaling.append(name, *found);
    const auto all = number("rope.scaling.yarn_log_multiplier"), beside = number("rope.scaling.attn_factor");
    if (all) {
      scaling.append("mscale", 1.0);
      scaling.append("mscale_all_dim", *all);
    }
    // The factor in addition to llama.cpp's own scale; see adopt_keys.cpp.
    const double factor = number("rope.scaling.factor").value_or(1);
    if (beside && scaling.find("attention_factor") == nullptr)
      scaling.append("attention_factor", *beside * yarn_stretch(factor, 1) / yarn_stretch(factor, all.value_or(0)));
  }

  static bool is_all_ones(const Tensor& divisors) {
    const std::vector<float> values = divisors.values<float>();
    return std::ranges::all_of(values, [](float value) { return value == 1; });
  }

  // Searches for the parameters that give these divisors, among those that models were trained with.
  Map llama3(const std::vector<float>& divisors) {
    const double largest = divisors.empty() ? 0 : *std::ranges::max_element(divisors);
    for (const double context : {8192.0, 4096.0, 16384.0, 32768.0, 2048.0, 1024.0, 512.0, 256.0, 128.0, 64.0})
      for (const double low : {1.0, 2.0})
        for (const double high : {4.0, 8.0, 2.0})
          for (const double factor : {largest, 8.0, 32.0, 16.0, 4.0, 2.0}) {
            const Llama3Scaling candidate{factor, low, high, context};
            const std::vector<float> made =
                llama3_divisors(candidate, model_.config.rope_theta.value_or(10000), 2 * divisors.size());
            if (!std::ranges::equal(made, divisors, [](float a, float b) { return std::fabs(a - b) <= 1e-5F * a; }))
              continue;
            Map scaling;
            scaling.append("rope_type", "llama3");
            scaling.append("factor", factor);
            scaling.append("low_freq_factor", low);
            scaling.append("high_freq_factor", high);
            scaling.append("original_max_position_embeddings", static_cast<std::int64_t>(context));
            return scaling;
          }
    changes_.push_back({.kind = ChangeKind::left_out,
                        .impact = Impact::results,
                        .part = "config.json",
                        .items = {"rope_scaling"},
                        .detail = "no numbers are known that give the divisors in rope_freqs.weight"});
    return {};
  }

  resources::TokenizerRules tokenizer_rules() {
    resources::TokenizerRules rules;
    const Vocabulary& vocabulary = model_.vocabulary;
    // Some containers do not keep the kind.
    rules.byte_level = vocabulary.kind == "bpe" || (vocabulary.kind.empty() && resources::is_byte_level(vocabulary));
    rules.adds_blank = flag("tokenizer.ggml.add_space_prefix", vocabulary.kind != "unigram");
    const auto text = [&](std::int64_t id) {
      return id >= 0 && static_cast<std::size_t>(id) < vocabulary.tokens.size()
                 ? vocabulary.tokens[static_cast<std::size_t>(id)].text
                 : std::string();
    };
    const Value* const pre = model_.metadata.find(kPreTokenizerKey);
    const std::string name = pre != nullptr && pre->text() != nullptr ? *pre->text() : "default";
    const PreFlags flags = flags_of(name).value_or(PreFlags());
    // The runtime's defaults for missing keys.
    const bool begins = vocabulary.kind == "spm" || flags.begins;
    if (flag("tokenizer.ggml.add_bos_token", begins) && !text(vocabulary.bos).empty())
      rules.before.push_back(text(vocabulary.bos));
    if (flag("tokenizer.ggml.add_eos_token", vocabulary.kind == "unigram") && !text(vocabulary.eos).empty())
      rules.behind.push_back(text(vocabulary.eos));
    rules.ignores_merges = flags.ignores_merges;
    if (model_.metadata.find("tokenizer.ggml.precompiled_charsmap") != nullptr ||
        flag("tokenizer.ggml.remove_extra_whitespaces", false))
      changes_.push_back({.kind = ChangeKind::remark,
                          .impact = Impact::results,
                          .part = "tokenizer.json",
                          .detail = "characters are not rewritten, nor several blanks made one, as the keys ask for"});
    if (!rules.byte_level) return rules;
    if (const auto cuts = cuts_of(name)) {
      rules.cuts = *cuts;
    } else {
      rules.cuts = {"bytes"};
      const std::string what = pre == nullptr ? "the model" : fmt::format("\"{}\"", quote(name));
      changes_.push_back({.kind = ChangeKind::remark,
                          .impact = Impact::results,
                          .part = "tokenizer.json",
                          .detail = fmt::format("how {} splits text is not known; it is split as GPT-2 does", what)});
    }
    return rules;
  }

  // One template is a text; several are a list of names and texts.
  void add_templates(Map& keys) const {
    List named;
    const std::string prefix = fmt::format("{}.", kTemplateKey);
    for (const auto& [key, value] : model_.metadata) {
      if (value.text() == nullptr || (key != kTemplateKey && !key.starts_with(prefix))) continue;
      Map one;
      one.append("name", key == kTemplateKey ? std::string("default") : key.substr(prefix.size()));
      one.append("template", *value.text());
      named.emplace_back(std::move(one));
    }
    const Value* const usual = model_.metadata.find(kTemplateKey);
    if (named.size() == 1 && usual != nullptr)
      keys.set("chat_template", *usual);
    else if (!named.empty())
      keys.set("chat_template", std::move(named));
  }

  std::string tokenizer_config() {
    Map keys = resources::parse_small_json(resources::tokenizer_config_json(model_.vocabulary));
    add_templates(keys);
    for (const char* const name : {"add_bos_token", "add_eos_token"})
      if (const Value* const said = model_.metadata.find(fmt::format("tokenizer.ggml.{}", name)))
        if (said->get<bool>() != nullptr) keys.set(name, *said);
    const Value* const pre = model_.metadata.find(kPreTokenizerKey);
    if (pre != nullptr && pre->text() != nullptr && model_.vocabulary.kind == "bpe")
      if (const auto flags = flags_of(*pre->text())) keys.set("clean_up_tokenization_spaces", !flags->keeps_blanks);
    return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
  }

  Model& model_;
  const arch::Family& family_;
  const Way& way_;
  std::vector<Change>& changes_;
  ArchKeys keys_;
};

// The name for tokenizer.ggml.pre that the attached files imply; empty if they imply none.
std::string name_by_files(const Model& model) {
  const auto text_of = [&](std::string_view name) {
    const Attachment* const file = model.attachment(name);
    const Bytes bytes = file == nullptr ? Bytes() : file->blob.bytes(resources::kMaxFileBytes);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  try {
    const std::string tokenizer = text_of("tokenizer.json"), settings = text_of("tokenizer_config.json");
    if (tokenizer.empty()) return {};
    const resources::TokenizerRules rules = resources::parse_tokenizer_rules(tokenizer);
    const Map said = settings.empty() ? Map() : resources::parse_small_json(settings);
    return rules.byte_level ? std::string(pre_tokenizer_of(traits_of(&rules, &said, model.config))) : std::string();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return {};
  }
}

// The name in tokenizer.ggml.pre of a byte-level vocabulary; null for others.
const std::string* pre_tokenizer_in(const Model& model) {
  const Value* const pre = model.metadata.find(kPreTokenizerKey);
  return pre == nullptr || model.vocabulary.kind != "bpe" ? nullptr : pre->text();
}

}  // namespace

bool splits_otherwise(const Model& model) {
  const std::string* const pre = pre_tokenizer_in(model);
  const std::string derived = pre == nullptr ? std::string() : name_by_files(model);
  return !derived.empty() && cuts_of(*pre) && cuts_of(*pre) != cuts_of(derived);
}

namespace {

// Warns if another program changed the name, so that it contradicts the attached tokenizer.json.
void report_other_cuts(const Model& model, std::vector<Change>& changes) {
  const std::string* const pre = pre_tokenizer_in(model);
  const std::string derived = pre == nullptr ? std::string() : name_by_files(model);
  if (derived.empty() || cuts_of(*pre) == cuts_of(derived)) return;
  changes.push_back({.kind = ChangeKind::remark,
                     .impact = Impact::results,
                     .part = "tokenizer.json",
                     .detail = fmt::format("it splits text as \"{}\", but {} is \"{}\"; it is kept as it came along",
                                           derived, kPreTokenizerKey, quote(*pre))});
}

// Removes keys that the attached files repeat, and keys that describe the GGUF file.
void forget_keys(Model& model, const arch::Family& family) {
  const std::string prefix = key_of(family, "");
  constexpr std::string_view kOfFile[] = {kKeysKey,
                                          kPlainTokensKey,
                                          kPaddedKey,
                                          kAlignmentKey,
                                          kRootKey,
                                          "general.type",
                                          "general.file_type",
                                          "general.size_label",
                                          "general.quantization_version"};
  // config.json implies the name.
  if (const Value* const name = model.metadata.find("general.name");
      name != nullptr && *name == Value(general_name(ConfigFile(model))))
    model.metadata.erase("general.name");
  // Several names have the same cuts and flags, and the cuts of some names are unknown. The files cannot reproduce such
  // a name, so it stays in the metadata.
  const std::string* const pre = pre_tokenizer_in(model);
  const bool keeps_name = pre != nullptr && name_by_files(model) != *pre;
  model.metadata.erase_if([&](const Map::Entry& entry) {
    if (entry.first == kPreTokenizerKey && keeps_name) return false;
    return entry.first.starts_with(prefix) || entry.first.starts_with("tokenizer.") ||
           std::ranges::find(kOfFile, entry.first) != std::end(kOfFile);
  });
}

}  // namespace

void release_tensors(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes,
                     std::vector<Renamed>& renamed) {
  TensorReleaser(model, family, way, changes, renamed).run();
}

void release_files(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes) {
  FileReleaser(model, family, way, changes).run();
}

namespace {

// Decides the prefix of the tensor names: the recorded one, if Tare wrote the file. Otherwise an embedding model has no
// head and the names of the class without one.
Way way_back(const Model& model, const arch::Family& family) {
  Way way{.has_config = model.attachment("config.json") != nullptr};
  const Value* const kept = model.metadata.find(kRootKey);
  const auto root = kept == nullptr || kept->text() == nullptr ? std::nullopt : arch::parse_root(*kept->text());
  // A recorded prefix needs the original config.json; only the bare prefix has a class that a made config.json can
  // name.
  if (root && (way.has_config || *root == arch::Root::bare)) {
    way.root = *root;
  } else if (!way.has_config) {
    const auto head = arch::spell(family, Dialect::gguf, {.role = Role::output_head});
    const Value* const pooling = model.metadata.find(key_of(family, "pooling_type"));
    const bool pools = pooling != nullptr && resources::number_of(*pooling).value_or(0) > 0;
    if (head && model.tensor(*head) == nullptr && (pools || family.runtime.bidirectional == true))
      way.root = arch::Root::bare;
  }
  return way;
}

// The family whose llama.cpp names the model has; null if it has none.
const arch::Family* named_family(const Model& model) {
  const arch::Family* const family = model.config.model_type ? arch::find_family(*model.config.model_type) : nullptr;
  if (family == nullptr || family->gguf.empty() || is_adapter(model)) return family;
  const auto table = arch::spell(*family, Dialect::gguf, {.role = Role::token_embedding});
  return (table && model.tensor(*table) != nullptr) || follows_llama_cpp(model, *family) ? family : nullptr;
}

}  // namespace

std::size_t count_released(const Model& model) {
  const arch::Family* const family = named_family(model);
  if (family == nullptr) return 0;
  if (is_adapter(model)) return model.tensors.size();
  const bool has_config = model.attachment("config.json") != nullptr;
  if (lacks_fields(model, *family)) return 0;
  std::size_t count = 0;
  for (const Tensor& tensor : model.tensors) {
    const auto name = arch::parse(*family, Dialect::gguf, tensor.name);
    if (!name || (moves_rows(*family, name->role) && !arch::rotated_heads(name->role, model.config))) return 0;
    if (is_omitted(tensor, name->role, has_config)) continue;
    const bool stacked = unstacked(name->role).has_value();
    if (stacked && (tensor.shape.rank() != 3 || tensor.shape.elements().value_or(0) == 0)) return 0;
    count += stacked ? static_cast<std::size_t>(tensor.shape[0]) : 1;
  }
  return count;
}

void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) {
  const arch::Family* const family = named_family(model);
  if (family == nullptr) return;
  require_fields(model, *family);
  if (is_adapter(model)) return release_adapter(model, *family, changes, renamed);
  const Way way = way_back(model, *family);
  report_other_cuts(model, changes);
  release_files(model, *family, way, changes);
  release_tensors(model, *family, way, changes, renamed);
  forget_keys(model, *family);
  if (!way.has_config) return;
  // The attached files have the original config and vocabulary.
  Diagnostics silent;
  model.config = {};
  model.vocabulary = {};
  resources::describe(model, silent);
}

}  // namespace tare::gguf
