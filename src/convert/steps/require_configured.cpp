// Checks a directory against its own config.json before it is written: programs that load it fill missing tensors with
// random numbers, with a warning that is easy to overlook.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/expected.hpp"
#include "base/json_writer.hpp"
#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "convert/directory_form.hpp"
#include "resources/config_file.hpp"
#include "resources/config_parts.hpp"
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

arch::Sizes sizes_in(const arch::Family& family, const ConfigView& config) {
  Config fields = resources::parse_config(write_json(config.own(), {}));
  resources::assume_fields(fields, config.file());
  // Every class of these families defaults to the number of heads.
  if (!fields.num_key_value_heads) fields.num_key_value_heads = fields.num_attention_heads;
  arch::Sizes sizes = arch::sizes_of(family, fields);
  const std::string type = config.text("model_type");
  const auto either = [&](std::string_view a, std::string_view b) {
    const auto first = config.count(a);
    return first ? first : config.count(b);
  };
  // For a part of a multimodal model, the outer class may tie the two by itself.
  const bool tied = config.flag("tie_word_embeddings").value_or(family.ties || config.is_part());
  sizes.has_head = has_language_head(config) && !tied;
  sizes.experts = either("num_local_experts", "num_experts");
  sizes.mixture = type == "mixtral" || family.name.ends_with("_moe");
  sizes.expert_rows = type == "mixtral" ? sizes.intermediate : config.count("moe_intermediate_size");
  sizes.shared_rows = config.count("shared_expert_intermediate_size");
  const Value* const plain = config.find("mlp_only_layers");
  sizes.some_mixtures =
      sizes.mixture && (config.count("decoder_sparse_step").value_or(1) != 1 ||
                        (plain != nullptr && plain->get<List>() != nullptr && !plain->get<List>()->empty()));
  // Their classes ignore the key and have fixed biases.
  constexpr std::string_view kOwnBiases[] = {"mistral", "mixtral", "ministral3", "qwen2", "qwen2_moe", "phi3"};
  const bool looks = std::ranges::find(kOwnBiases, type) == std::end(kOwnBiases);
  sizes.biases_attention = looks && config.flag("attention_bias").value_or(false);
  sizes.biases_inputs = type == "qwen2" || (type == "qwen2_moe" && config.flag("qkv_bias").value_or(true));
  sizes.biases_ffn =
      (type == "llama" || type == "granite" || type == "smollm3") && config.flag("mlp_bias").value_or(false);
  return sizes;
}

// Compares the tensors with the expected ones, and keeps the first few that differ.
class Comparison {
 public:
  Comparison(const Model& model, const arch::Family& family, bool packed)
      : model_(model), family_(family), packed_(packed) {
    for (const Tensor& tensor : model.tensors) tensors_.emplace(tensor.name, &tensor);
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

  const std::vector<std::string>& missing() const { return missing_; }
  const std::vector<std::string>& misshapen() const { return misshapen_; }

 private:
  static constexpr std::size_t kMost = 8;

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
  bool is_stacked(arch::TensorName name) const {
    name.expert.reset();
    name.role = name.role == Role::expert_down ? Role::stacked_down : Role::stacked_gate_up;
    const auto spelled = arch::spell(family_, Dialect::hugging_face, name);
    return spelled && tensors_.contains(*spelled);
  }

  void compare(const arch::Expected& expected) {
    const auto name = arch::spell(family_, Dialect::hugging_face, expected.name);
    if (!name) return;
    const auto found = tensors_.find(*name);
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
  NameViewMap<const Tensor*> tensors_;
  std::vector<std::string_view> sorted_;
  std::vector<std::string> missing_, misshapen_;
};

std::optional<Map> config_of(const Model& model) {
  const Attachment* const file = model.attachment("config.json");
  if (file == nullptr && model.config.empty()) return std::nullopt;
  try {
    if (file == nullptr) return resources::parse_small_json(resources::config_json(model.config));
    const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
    return resources::parse_small_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;  // the directory's writer refuses it
  }
}

}  // namespace

void require_configured(const Model& model, std::vector<Change>& lines) {
  std::optional<Map> found = config_of(model);
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
  comparison.run(sizes_in(*family, config), *root);
  const auto listed = [](std::string_view what, const std::vector<std::string>& names) {
    return names.empty() ? std::string() : fmt::format("{}: {}", what, fmt::join(names, ", "));
  };
  const std::string missing = listed("it asks for tensors that do not exist", comparison.missing()),
                    misshapen = listed("it asks for other shapes", comparison.misshapen());
  if (missing.empty() && misshapen.empty()) return;
  throw Error(ErrorKind::corrupt, "convert.config",
              fmt::format("{}{}{}", missing, missing.empty() || misshapen.empty() ? "" : "; ", misshapen))
      .about("config.json")
      .blame(Subject::input)
      .remedy(Remedy::keep_names);
}

}  // namespace tare
