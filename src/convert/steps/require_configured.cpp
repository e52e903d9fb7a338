// Checks a directory against its own config.json before it is written: programs that load it fill missing tensors with
// random numbers, with a warning that is easy to overlook.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

#include "arch/expected.hpp"
#include "arch/model_classes.hpp"
#include "arch/usual_names.hpp"
#include "base/glob.hpp"
#include "base/json_writer.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "convert/configured.hpp"
#include "convert/directory_form.hpp"
#include "resources/config_file.hpp"
#include "resources/config_parts.hpp"
#include "resources/layer_sizes.hpp"
#include "resources/resources.hpp"

namespace tare {
namespace {

using arch::Dialect;
using arch::Role;

// config.json as its readers see it: for a multimodal model, the part about the language.
class ConfigView {
 public:
  explicit ConfigView(Map root) : root_(std::move(root)), file_(root_) {
    const std::vector<const Map*> parts = resources::language_parts(root_);
    if (parts.front() != &root_) part_ = parts.front();
    alone_ = parts.size() == 1;
  }
  ConfigView(const ConfigView&) = delete;
  ConfigView& operator=(const ConfigView&) = delete;

  bool is_part() const { return part_ != nullptr; }
  const Value* find(std::string_view key) const {
    const Value* const top = root_.find(key);
    const bool of_top = part_ == nullptr || (top != nullptr && resources::is_key_of_top(key));
    const Value* const found = of_top ? top : part_->find(key);
    const Value* const any = found == nullptr && (!alone_ || key == "model_type") ? top : found;
    if (any == nullptr) return file_.assumed().find(key);
    return any->is_null() ? nullptr : any;
  }
  std::string text(std::string_view key) const {
    const Value* const found = find(key);
    return found != nullptr && found->text() != nullptr ? *found->text() : std::string();
  }
  std::optional<std::uint64_t> count(std::string_view key) const {
    const Value* const found = find(key);
    return found == nullptr ? std::nullopt : resources::count_of(*found);
  }
  std::optional<bool> flag(std::string_view key) const {
    const Value* const found = find(key);
    const bool* const said = found == nullptr ? nullptr : found->get<bool>();
    return said == nullptr ? std::nullopt : std::optional(*said);
  }
  const Map& own() const { return part_ == nullptr ? root_ : *part_; }
  const Map& root() const { return root_; }
  const resources::ConfigFile& file() const { return file_; }

 private:
  Map root_;
  resources::ConfigFile file_;
  const Map* part_ = nullptr;
  bool alone_ = true;  // keys at the top do not apply to the part
};

// Returns whether the class that config.json names has a head for tokens. Without a name, the usual class does.
bool has_language_head(const ConfigView& config) {
  const List* const classes = resources::get<List>(config.root(), "architectures");
  if (classes == nullptr || classes->empty()) return true;
  return std::ranges::any_of(*classes, [](const Value& value) {
    const std::string* const name = value.text();
    return name != nullptr && (name->ends_with("ForCausalLM") || name->ends_with("ForConditionalGeneration"));
  });
}

// Which layers of Qwen's mixtures have experts.
void set_layers(const ConfigView& config, arch::Sizes& sizes) {
  if (sizes.experts == 0U) sizes.mixture = false;
  sizes.sparse_step = config.count("decoder_sparse_step").value_or(1);
  const Value* const plain = config.find("mlp_only_layers");
  const List* const list = plain == nullptr ? nullptr : plain->get<List>();
  for (const Value& item : list == nullptr ? List() : *list)
    if (const auto* const layer = item.get<std::int64_t>(); layer != nullptr && *layer >= 0)
      sizes.plain_layers.insert(static_cast<std::uint64_t>(*layer));
}

// Which layers have no experts, if config.json lists them.
void set_plain_layers(const ConfigView& config, arch::Sizes& sizes) {
  const Value* const types = config.find("mlp_layer_types");
  const List* const words = types == nullptr ? nullptr : types->get<List>();
  if (words == nullptr) return;
  sizes.leading_plain = 0;
  for (std::size_t layer = 0; layer < words->size(); ++layer)
    if ((*words)[layer] == Value("dense")) sizes.plain_layers.insert(layer);
}

// Which layers have a state in place of attention.
void set_states(const arch::Family& family, const ConfigView& config, arch::Sizes& sizes) {
  if (family.runtime.state.empty()) return;
  const Value* const types = config.find("layer_types");
  const List* const words = types == nullptr ? nullptr : types->get<List>();
  const std::uint64_t period = std::max<std::uint64_t>(config.count("full_attention_interval").value_or(4), 1);
  constexpr std::uint64_t kMost = 1 << 20;
  const std::uint64_t layers =
      std::min<std::uint64_t>(words != nullptr ? words->size() : sizes.layers.value_or(0), kMost);
  for (std::uint64_t layer = 0; layer < layers; ++layer)
    if (words != nullptr ? (*words)[static_cast<std::size_t>(layer)] == Value(family.runtime.state)
                         : (layer + 1) % period != 0)
      sizes.without_attention.insert(layer);
}

// Which layers have no attention.
void set_attention(const arch::Family& family, const ConfigView& config, arch::Sizes& sizes) {
  if (family.runtime.no_attention.empty()) return;
  const Value* const types = config.find("layer_types");
  const List* const words = types == nullptr ? nullptr : types->get<List>();
  constexpr std::uint64_t kMost = 1 << 20;
  if (words == nullptr && family.runtime.usually_no_attention)
    for (std::uint64_t layer = 0; layer < std::min(sizes.layers.value_or(0), kMost); ++layer)
      sizes.without_attention.insert(layer);
  for (std::size_t layer = 0; words != nullptr && layer < words->size(); ++layer)
    if (const std::string* const word = (*words)[layer].text();
        word != nullptr && family.runtime.lacks_attention(*word))
      sizes.without_attention.insert(layer);
}

arch::Sizes sizes_in(const arch::Family& family, const ConfigView& config) {
  Config fields = resources::parse_config(write_json(config.own(), {}));
  resources::assume_fields(fields, config.file());
  arch::assume_widening(family, fields);
  // Every class of these families defaults to the number of heads.
  if (!fields.num_key_value_heads) fields.num_key_value_heads = fields.num_attention_heads;
  arch::Sizes sizes = arch::sizes_of(family, fields);
  const arch::ModelClass& type = arch::class_of(config.text("model_type"));
  const auto either = [&](std::string_view a, std::string_view b) {
    const auto first = config.count(a);
    return first ? first : config.count(b);
  };
  // For a part of a multimodal model, the outer class may tie the two by itself.
  const bool tied = config.flag("tie_word_embeddings").value_or(family.ties || config.is_part());
  sizes.has_head = has_language_head(config) && !tied;
  const auto stated = [&](std::string_view key) {
    const arch::KeyRow* const row = family.runtime.row(key);
    std::optional<std::uint64_t> count;
    if (row != nullptr)
      for (const std::string_view name : row->from)
        if (!count && !name.empty()) count = config.count(name);
    return count;
  };
  sizes.experts = stated("expert_count");
  if (!sizes.experts) sizes.experts = either("num_local_experts", "num_experts");
  if (family.runtime.counts_next_layers || family.runtime.counts_present_next_layers)
    sizes.further = config.count("num_nextn_predict_layers").value_or(0);
  sizes.leading_plain = stated("leading_dense_block_count").value_or(family.runtime.leading_plain);
  if (family.runtime.leading_plain > 0) set_plain_layers(config, sizes);
  if (const std::string_view plain = family.runtime.plain_size_key; !plain.empty())
    sizes.intermediate = config.count(plain);
  if (const auto step = stated("interleave_moe_layer_step"); step && family.runtime.plain_size_key != "")
    sizes.sparse_step = *step;
  if (const Value* const adjusts = config.find("block_auto_adjust_ff_dim");
      family.runtime.adjusts_width && adjusts != nullptr && *adjusts == true) {
    const auto size = config.file().number("block_ff_dim");
    sizes.intermediate = static_cast<std::uint64_t>(arch::adjusted_width(
        size.value_or(static_cast<double>(sizes.intermediate.value_or(0))),
        config.file().number("block_ffn_dim_multiplier"), config.file().number("block_multiple_of").value_or(1)));
  }
  set_attention(family, config, sizes);
  if (family.runtime.mixes_layers)
    for (const std::string_view key : {arch::kLayerKinds, arch::kLayerLetters})
      if (const Value* const said = config.find(key); said != nullptr && sizes.kinds.empty())
        sizes.kinds = arch::layer_kinds(*said).value_or(std::vector<arch::LayerKind>());
  if (!sizes.kinds.empty()) sizes.layers = sizes.kinds.size();
  set_states(family, config, sizes);
  sizes.has_qk_norms = type.qk_norm_key.empty() || config.flag(type.qk_norm_key).value_or(false);
  sizes.mixture = type.experts != arch::Experts::none;
  sizes.expert_rows =
      type.experts == arch::Experts::of_intermediate_size ? sizes.intermediate : config.count("moe_intermediate_size");
  sizes.shared_rows = config.count("shared_expert_intermediate_size");
  if (type.experts == arch::Experts::of_moe_intermediate_size) set_layers(config, sizes);
  if (family.runtime.mixes_layers) sizes.expert_columns = stated("moe_latent_size");
  if (family.runtime.mixes_layers) sizes.shared_rows = stated("expert_shared_feed_forward_length");
  if (family.runtime.shared_alone) {
    sizes.shared_rows = stated("expert_shared_feed_forward_length");
    sizes.mixture = sizes.mixture && sizes.experts != 0U;
    if (!sizes.mixture) sizes.intermediate = sizes.shared_rows;
  }
  if (family.runtime.has_decoder)
    sizes.further = config.count("num_decoder_layers").value_or(0) -
                    std::min(config.count("num_decoder_layers").value_or(0), sizes.layers.value_or(0));
  const auto size = [](std::optional<std::int64_t> number) {
    return number && *number > 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
  };
  for (const resources::LayerSize& layer : resources::layer_sizes(family, config.file(), fields).layers)
    sizes.of_layers.push_back({size(layer.keys), size(layer.head), size(layer.rows), layer.has_keys, layer.has_values});
  for (const arch::BiasGroup& group : type.biases)
    if (group.key.empty() || config.flag(group.key).value_or(group.otherwise))
      sizes.biased.insert(group.roles.begin(), group.roles.end());
  return sizes;
}

// Compares the tensors with the expected ones, and keeps the first few that differ.
class Comparison {
 public:
  Comparison(const Model& model, const arch::Family& family, bool packed)
      : model_(model), family_(family), packed_(packed) {
    for (const Tensor& tensor : model.tensors) tensors_.emplace(tensor.name, &tensor);
    if (family.runtime.reads_gamma) add_early_names();
  }

  // The prefix of the family's names; nothing if no tensor has one. A norm or a head alone ("norm.weight") is not
  // enough: other models have these names as well.
  std::optional<arch::Root> root() const {
    for (const Tensor& tensor : model_.tensors)
      if (const auto name = arch::parse(family_, Dialect::hugging_face, tensor.name);
          name && (name->role == Role::token_embedding || name->layer))
        return name->root;
    return std::nullopt;
  }

  void run(const arch::Sizes& sizes, arch::Root root) {
    root_ = root;
    arch::for_each_expected(family_, sizes, [&](const arch::Expected& expected) { return look_at(expected); });
  }

  // Tensors that the class does not read, in the order of the model, after `run`. `whole`: the model has no parts
  // but the ones that `sizes` describe, so that unknown names count as well.
  std::vector<const Tensor*> surplus(const arch::Sizes& sizes, bool whole) const {
    std::vector<const Tensor*> found;
    if (!sizes.layers) return found;
    for (const Tensor& tensor : model_.tensors) {
      if (expected_.contains(tensor.name)) continue;
      // The arrays of packed weights have names of their own, and biases that the class may lack; not layers.
      const auto packed = packed_ ? arch::parse(family_, Dialect::hugging_face, tensor.name) : std::nullopt;
      if (packed_ && (!packed || !packed->layer || *packed->layer < *sizes.layers)) continue;
      if (family_.runtime.next_layers_apart && tensor.name.starts_with("mtp.")) continue;
      const auto name = arch::parse(family_, Dialect::hugging_face, tensor.name);
      if (name ? !is_read(*name, sizes) : whole) found.push_back(&tensor);
    }
    return found;
  }

  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& misshapen() const { return misshapen_; }

 private:
  static constexpr std::size_t kMost = 8;

  // Libraries still read the names that early files have for the parts of norms.
  void add_early_names() {
    for (const Tensor& tensor : model_.tensors)
      for (const auto& [early, usual] : {std::pair(".gamma", ".weight"), std::pair(".beta", ".bias")}) {
        const std::string_view name = tensor.name, end = early;
        if (!name.ends_with(end)) continue;
        usual_names_.push_back(fmt::format("{}{}", name.substr(0, name.size() - end.size()), usual));
        tensors_.emplace(usual_names_.back(), &tensor);
      }
  }

  bool look_at(arch::Expected expected) {
    expected.name.root = root_;
    const std::uint64_t count = std::min<std::uint64_t>(expected.experts.value_or(1), UINT32_MAX);
    if (expected.experts && is_stacked(expected.name)) return true;
    for (std::uint64_t expert = 0; expert < count; ++expert) {
      if (expected.experts) expected.name.expert = static_cast<std::uint32_t>(expert);
      compare(expected);
      if (missing_.size() + misshapen_.size() > kMost) return false;
    }
    return true;
  }

  // Returns whether all experts of the layer are in one tensor.
  bool is_stacked(arch::TensorName name) {
    name.expert.reset();
    name.role = name.role == Role::expert_down ? Role::stacked_down : Role::stacked_gate_up;
    const auto spelled = arch::spell(family_, Dialect::hugging_face, name);
    const auto found = spelled ? tensors_.find(*spelled) : tensors_.end();
    if (found == tensors_.end()) return false;
    expected_.insert(found->first);
    return true;
  }

  // Returns whether a tensor that is not required belongs to the model anyway.
  bool is_read(const arch::TensorName& name, const arch::Sizes& sizes) const {
    if (name.layer && *name.layer >= *sizes.layers) return *name.layer - *sizes.layers < sizes.further;
    // Older programs stored the frequencies of the rotary positions.
    if (name.role == Role::rope_inverse || !arch::is_described(family_, name.role)) return true;
    if (name.suffix == arch::Suffix::bias) return false;
    // Layers that use the keys of others may have unused ones of their own.
    if (family_.runtime.shares_keys && (name.role == Role::k || name.role == Role::v || name.role == Role::k_norm))
      return true;
    // A head may exist next to the token table that it equals.
    if (name.role == Role::output_head) return true;
    // It is unknown how many experts there are.
    return name.layer && sizes.has_experts(*name.layer) && !sizes.experts && name.expert;
  }

  void compare(const arch::Expected& expected) {
    const auto name = arch::spell(family_, Dialect::hugging_face, expected.name);
    if (!name) return;
    const auto found = tensors_.find(*name);
    if (found != tensors_.end()) expected_.insert(found->first);
    if (found == tensors_.end()) {
      if (!packed_ || !has_arrays(*name)) missing_.push_back(fmt::format("{} ({})", *name, expected.shape_text()));
    } else if (!expected.fits(found->second->shape) && (!packed_ || expected.shape.size() == 1)) {
      misshapen_.push_back(
          fmt::format("{}: expected {}, found {}", *name, expected.shape_text(), found->second->shape.text()));
    }
  }

  // Packed weights are several arrays, under the name of their module.
  bool has_arrays(std::string_view name) {
    const std::string_view module = name.substr(0, name.rfind('.') + 1);
    if (sorted_.empty()) {
      for (const Tensor& tensor : model_.tensors) sorted_.push_back(tensor.name);
      std::ranges::sort(sorted_);
    }
    const auto next = std::ranges::lower_bound(sorted_, module);
    return next != sorted_.end() && next->starts_with(module);
  }

  const Model& model_;
  const arch::Family& family_;
  bool packed_;
  arch::Root root_ = arch::Root::model;
  std::deque<std::string> usual_names_;
  NameViewMap<const Tensor*> tensors_;
  NameViewSet expected_;
  std::vector<std::string_view> sorted_;
  std::vector<std::string> missing_, misshapen_;
};

// A glob for all of the tensors; empty if there is no simple one.
std::string glob_of(const std::vector<const Tensor*>& tensors, const arch::Family& family, bool has_biases) {
  if (tensors.size() == 1) return escape_glob(tensors.front()->name);
  std::optional<std::uint32_t> layer;
  bool biases = true, one_layer = true;
  for (const Tensor* const tensor : tensors) {
    const auto name = arch::parse(family, Dialect::hugging_face, tensor->name);
    biases = biases && name && name->suffix == arch::Suffix::bias;
    one_layer = one_layer && name && name->layer && layer.value_or(*name->layer) == *name->layer;
    if (one_layer) layer = name->layer;
  }
  if (one_layer && !biases) return fmt::format("*layers.{}.*", *layer);
  return biases && !has_biases ? "*.bias" : "";
}

// Parts of a multimodal model next to the language, as config.json describes them, if none of the tensors is of another
// part: programs that load the model start with random numbers there.
std::vector<std::string_view> parts_without_tensors(const Model& model, const arch::Family& family,
                                                    const ConfigView& config) {
  std::vector<std::string_view> parts;
  if (!config.is_part()) return parts;
  for (const std::string_view key : {"vision_config", "audio_config", "speech_config", "image_config", "video_config"})
    if (const Map* const part = resources::get<Map>(config.root(), key); part != nullptr && !part->empty())
      parts.push_back(key);
  if (!parts.empty() && std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
        return !arch::parse(family, Dialect::hugging_face, tensor.name);
      }))
    parts.clear();
  return parts;
}

std::string some_of(const std::vector<const Tensor*>& tensors) {
  std::vector<std::string> names;
  for (const Tensor* const tensor : tensors) names.push_back(tensor->name);
  return listed_names(names, 4);
}

Change surplus_remark(const std::vector<const Tensor*>& surplus, const std::string& glob) {
  return {.kind = ChangeKind::remark,
          .impact = Impact::results,
          .part = "config.json",
          .detail = fmt::format("it does not ask for {} of the tensors, so programs ignore them: {}", surplus.size(),
                                some_of(surplus)),
          .remedies = {{Remedy::skip, glob}}};
}

}  // namespace

std::optional<Map> config_json_of(const Model& model) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr && model.config.empty()) return std::nullopt;
  try {
    if (file == nullptr) {
      Map made = resources::parse_small_json(resources::config_json(model.config));
      // As config.json is made for it.
      if (const auto tied = arch::ties_embeddings(model); tied && made.find("tie_word_embeddings") == nullptr)
        made.set("tie_word_embeddings", *tied);
      return made;
    }
    const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
    return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;  // the directory's writer refuses it
  }
}

arch::Sizes configured_sizes(const arch::Family& family, const Map& config_json) {
  return sizes_in(family, ConfigView(config_json));
}

std::optional<Change> surplus_tensors(const Model& model) {
  std::optional<Map> found = config_json_of(model);
  if (!found) return std::nullopt;
  const ConfigView config(std::move(*found));
  const arch::Family* const family = arch::find_family(config.text("model_type"));
  if (family == nullptr) return std::nullopt;
  Comparison comparison(model, *family, false);
  const auto root = comparison.root();
  if (!root) return std::nullopt;
  const arch::Sizes sizes = sizes_in(*family, config);
  comparison.run(sizes, *root);
  const std::vector<const Tensor*> surplus = comparison.surplus(sizes, !config.is_part() && has_language_head(config));
  if (surplus.empty()) return std::nullopt;
  return surplus_remark(surplus, glob_of(surplus, *family, !sizes.biased.empty()));
}

void require_configured(const Model& model, std::vector<Change>& lines, const Format* used_by) {
  std::optional<Map> found = config_json_of(model);
  if (!found || model.tensors.empty() || model.attachment("adapter_config.json") != nullptr) return;
  const ConfigView config(std::move(*found));
  const arch::Family* const family = arch::find_family(config.text("model_type"));
  if (family == nullptr || !arch::spell(*family, Dialect::hugging_face, {.role = Role::token_embedding})) return;
  Comparison comparison(model, *family,
                        config.find("quantization_config") != nullptr || config.find("quantization") != nullptr);
  const auto root = comparison.root();
  if (!root) {
    lines.push_back({.kind = ChangeKind::remark,
                     .impact = Impact::results,
                     .part = "config.json",
                     .detail = fmt::format("it describes a {} model, but no tensor has one of its names",
                                           quote(config.text("model_type")))});
    return;
  }
  const arch::Sizes sizes = sizes_in(*family, config);
  comparison.run(sizes, *root);
  const auto listed = [](std::string_view what, const std::vector<std::string>& names) {
    return names.empty() ? std::string() : fmt::format("{}: {}", what, fmt::join(names, ", "));
  };
  const std::string missing = listed("it asks for tensors that do not exist", comparison.missing()),
                    misshapen = listed("it asks for other shapes", comparison.misshapen());
  if (!missing.empty() || !misshapen.empty())
    throw Error(ErrorKind::corrupt, "convert.config",
                fmt::format("{}{}{}", missing, missing.empty() || misshapen.empty() ? "" : "; ", misshapen))
        .about("config.json")
        .blame(Subject::input)
        .remedy(Remedy::keep_names);
  if (const auto parts = parts_without_tensors(model, *family, config); !parts.empty() && used_by == nullptr)
    lines.push_back({.kind = ChangeKind::remark,
                     .impact = Impact::results,
                     .part = "config.json",
                     .detail = fmt::format("there are no tensors of what {} describes: programs that load this start "
                                           "with random numbers there",
                                           fmt::join(parts, ", "))});
  // Classes for other tasks than language have heads of their own.
  const bool whole = !config.is_part() && has_language_head(config);
  std::vector<const Tensor*> surplus = comparison.surplus(sizes, whole);
  if (used_by != nullptr)
    std::erase_if(surplus, [&](const Tensor* tensor) {
      const auto name = arch::parse(*family, Dialect::hugging_face, tensor->name);
      // The target's conventions refuse unknown names. Only config.json states whether there are biases.
      return !name || (name->suffix == arch::Suffix::bias && model.attachment("config.json") == nullptr);
    });
  if (surplus.empty()) return;
  const std::string glob = glob_of(surplus, *family, !sizes.biased.empty());
  if (used_by != nullptr)
    throw Error(ErrorKind::unsupported, "convert.surplus",
                fmt::format("it does not ask for {}, which programs that read {} would use or refuse", some_of(surplus),
                            used_by->title))
        .about("config.json")
        .blame(Subject::input)
        .remedy(Remedy::skip, glob);
  lines.push_back(surplus_remark(surplus, glob));
}

}  // namespace tare
