// Converts tensors from Hugging Face's conventions (or those of Meta's own files) to llama.cpp's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "arch/qk_rows.hpp"
#include "base/glob.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/conventions.hpp"
#include "formats/gguf/tokenizer.hpp"
#include "model/joined_blob.hpp"
#include "model/plain_float.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"
#include "tare/codec.hpp"
#include "tare/elements.hpp"
#include "tare/slice.hpp"

namespace tare::gguf {
namespace {

using arch::Dialect;
using arch::Role;
using arch::TensorName;

Error unmapped(const std::string& sentence) {
  return Error(ErrorKind::unsupported, "convert.names", sentence).remedy(Remedy::keep_names);
}

// Returns whether rows can be moved as a whole: in dense tensors, and in blocks, which never cross a row.
bool has_whole_rows(const Tensor& tensor) { return tensor.is_dense() || tensor.layout.starts_with("ggml."); }

Tensor with_whole_rows(Tensor tensor) { return has_whole_rows(tensor) ? std::move(tensor) : to_dense(tensor); }

bool has_same_bytes(const Tensor& a, const Tensor& b) {
  if (a.shape != b.shape || a.layout != b.layout || a.components.size() != b.components.size()) return false;
  constexpr std::uint64_t kPiece = 1 << 20;
  Bytes some(kPiece), others(kPiece);
  for (std::size_t i = 0; i < a.components.size(); ++i) {
    const Component &one = a.components[i], &other = b.components[i];
    if (one.role != other.role || one.dtype != other.dtype || one.type != other.type ||
        one.blob.size() != other.blob.size())
      return false;
    const auto left = one.blob.open(), right = other.blob.open();
    for (std::uint64_t at = 0; at < one.blob.size(); at += kPiece) {
      const auto count = static_cast<std::size_t>(std::min(kPiece, one.blob.size() - at));
      left->read(std::span(some).first(count));
      right->read(std::span(others).first(count));
      if (!std::equal(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count), others.begin())) return false;
    }
  }
  return true;
}

class TensorAdopter {
 public:
  TensorAdopter(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                std::vector<Renamed>& renamed)
      : model_(model),
        family_(family),
        config_(config),
        changes_(changes),
        renamed_(renamed),
        head_rows_(family, model.config) {}

  void run() {
    parse_names();
    for (std::size_t i = 0; i < model_.tensors.size(); ++i) add(std::move(model_.tensors[i]), names_[i]);
    stack_experts();
    omit_heads();
    add_head();
    add_rope_factors();
    keep_root();
    report();
    model_.tensors = std::move(out_);
  }

 private:
  void parse_names() {
    // Chooses the dialect that knows more of the names: some ("norm.weight") are in both.
    const auto known = [&](Dialect dialect) {
      return std::ranges::count_if(
          model_.tensors, [&](const Tensor& tensor) { return arch::parse(family_, dialect, tensor.name).has_value(); });
    };
    dialect_ = known(Dialect::hugging_face) >= known(Dialect::meta) ? Dialect::hugging_face : Dialect::meta;
    std::vector<std::string> strangers;
    for (const Tensor& tensor : model_.tensors) {
      const auto name = arch::parse(family_, dialect_, tensor.name);
      if (!name || !is_loaded(*name)) strangers.push_back(tensor.name);
      names_.push_back(name.value_or(TensorName()));
    }
    if (!strangers.empty())
      throw unmapped(fmt::format("{} of {} tensors are not part of a {} model as llama.cpp knows it: {}",
                                 strangers.size(), model_.tensors.size(), family_.name, listed_names(strangers)));
  }

  bool is_loaded(const TensorName& name) const {
    return name.suffix == arch::Suffix::weight || std::ranges::find(family_.biases, name.role) != family_.biases.end();
  }

  void add(Tensor tensor, const TensorName& name) {
    if (name.role == Role::rope_inverse) return omitted_.push_back(tensor.name);
    if (name.role == Role::output_head && family_.head == arch::Presence::never) {
      heads_.push_back(std::move(tensor));
      return;
    }
    if (name.role == Role::token_embedding) embedding_ = tensor;
    if (const auto all = arch::stacked(name.role); all && name.expert) {
      experts_[{name.layer.value_or(0), *all}][*name.expert] = std::move(tensor);
      return;
    }
    if (name.role == Role::stacked_gate_up) return split_gate_up(tensor, name);
    reorder(tensor, name);
    finish(std::move(tensor), name);
  }

  void reorder(Tensor& tensor, const TensorName& name) {
    const arch::QkOrder from = arch::qk_order(family_, dialect_), to = arch::qk_order(family_, Dialect::gguf);
    if (from == to || (name.role != Role::q && name.role != Role::k)) return;
    const auto heads = arch::rotated_heads(name.role, model_.config);
    if (!heads) throw unmapped("the number of heads, which determines the row order of q and k, is unknown");
    tensor = with_whole_rows(std::move(tensor));
    try {
      head_rows_.check(tensor.shape.empty() ? 0 : tensor.shape[0], *heads);
      if (tensor.is_dense()) {
        tensor = arch::reorder_qk(tensor, *heads, to);
      } else {
        Component& payload = tensor.components.front();
        payload.blob = arch::reorder_qk(payload.blob, tensor.shape.empty() ? 0 : tensor.shape[0], *heads, to);
      }
    } catch (const Error& error) {
      throw unmapped(fmt::format("{}: {}", quote(tensor.name), error.sentence()));
    }
    ++reordered_;
  }

  // Sets the name, type and values that the runtime expects.
  void finish(Tensor tensor, const TensorName& name) {
    const std::string before = tensor.name;
    if (tensor.is_dense() && tensor.components.front().type.empty() && !is_float(tensor.components.front().dtype))
      throw Error(ErrorKind::unsupported, "gguf.weights",
                  fmt::format("expected floats, found {}, with which llama.cpp cannot compute",
                              name_of(tensor.components.front().dtype)))
          .about("tensor " + quote(before))
          .blame(Subject::input)
          .remedy(Remedy::keep_names);
    const auto spelled = arch::spell(family_, Dialect::gguf, name);
    if (!spelled) throw unmapped(fmt::format("llama.cpp has no name for {}", quote(before)));
    tensor.name = *spelled;
    renamed_.push_back({before, *spelled});
    if (arch::is_norm(name.role) && family_.norm_shift != 0 && name.suffix == arch::Suffix::weight) shift(tensor);
    const bool small = tensor.shape.rank() <= 1 || arch::is_norm(name.role) || name.role == Role::router ||
                       name.role == Role::shared_router;
    if (small && is_plain_float(tensor) && tensor.components.front().dtype != DType::f32) {
      const std::string was(name_of(tensor.components.front().dtype));
      Map attributes = std::move(tensor.attributes);
      tensor = cast(tensor, DType::f32);
      tensor.attributes = std::move(attributes);
      tensor.attributes.set(kWasType, was);
      widened_.push_back(tensor.name);
    }
    out_.push_back(std::move(tensor));
  }

  // Adds the family's shift to a norm, at once rather than lazily: norms are small.
  void shift(Tensor& tensor) {
    if (!is_plain_float(tensor))
      throw unmapped(
          fmt::format("{} is not of a float type, to which {} is to be added", quote(tensor.name), family_.norm_shift));
    const std::string was(name_of(tensor.components.front().dtype));
    std::vector<float> values = tensor.values<float>();
    List rounded;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float shifted = values[i] + family_.norm_shift;
      if (shifted - family_.norm_shift != values[i]) {
        rounded.emplace_back(static_cast<std::int64_t>(i));
        rounded.emplace_back(static_cast<double>(values[i]));
      }
      values[i] = shifted;
    }
    Map attributes = std::move(tensor.attributes);
    tensor = dense<float>(tensor.name, tensor.shape, values);
    tensor.attributes = std::move(attributes);
    if (was != name_of(DType::f32)) tensor.attributes.set(kWasType, was);
    if (!rounded.empty()) tensor.attributes.set(kRounded, std::move(rounded));
    ++shifted_;
  }

  // Splits the rows of each expert: the first half is gate, the second half is up.
  void split_gate_up(const Tensor& tensor, TensorName name) {
    if (!tensor.is_dense() || tensor.shape.rank() != 3 || tensor.shape[1] % 2 != 0)
      throw unmapped(fmt::format("{}: expected a stack of pairs of matrices", quote(tensor.name)));
    const std::uint64_t half = tensor.shape[1] / 2;
    for (const auto& [role, part] : {std::pair(Role::stacked_gate, fmt::format(":,:{}", half)),
                                     std::pair(Role::stacked_up, fmt::format(":,{}:", half))}) {
      Tensor one = slice(tensor, parse_slice(part));
      one.name = tensor.name;
      name.role = role;
      finish(std::move(one), name);
    }
  }

  void stack_experts() {
    std::size_t count = 0;
    for (const auto& [key, experts] : experts_) count = std::max(count, experts.size());
    for (auto& [key, experts] : experts_) {
      const auto& [layer, role] = key;
      if (experts.size() != count)
        throw unmapped(fmt::format("only {} of {} experts exist, {} among them", experts.size(), count,
                                   quote(experts.begin()->second.name)));
      const Tensor& first = experts.begin()->second;
      std::vector<Blob> blobs;
      for (auto& [number, tensor] : experts) {
        if (number != blobs.size() || tensor.shape != first.shape || tensor.layout != first.layout ||
            tensor.components.size() != 1 || tensor.components.front().dtype != first.components.front().dtype ||
            tensor.components.front().type != first.components.front().type || !has_whole_rows(tensor))
          throw unmapped(
              fmt::format("{} cannot be put together with the other experts: one is missing, or they differ in "
                          "shape or type",
                          quote(tensor.name)));
        blobs.push_back(tensor.components.front().blob);
      }
      Tensor all = first;
      all.shape = Shape();
      all.shape.push_back(blobs.size());
      for (const std::uint64_t dimension : first.shape) all.shape.push_back(dimension);
      all.components.front().blob = joined_blob(std::move(blobs));
      ++stacked_;
      finish(std::move(all), {.role = role, .layer = layer});
      for (const auto& [number, tensor] : experts)
        if (number > 0) renamed_.push_back({tensor.name, out_.back().name});
    }
  }

  // Omits heads of families for which llama.cpp uses the token table as the head. A head that differs from the table is
  // an error, even if config.json ties the two: readers of the directory use the tensor.
  void omit_heads() {
    for (Tensor& head : heads_) {
      if (!embedding_ || !has_same_bytes(head, *embedding_))
        throw Error(ErrorKind::unsupported, "convert.head",
                    fmt::format("{} differs from the token table, and llama.cpp takes the token table for the head of "
                                "a {} model",
                                quote(head.name), family_.name))
            .about("tensor " + quote(head.name))
            .remedy(Remedy::skip, escape_glob(head.name));
      omitted_.push_back(std::move(head.name));
    }
  }

  // Copies the token table as the head if the head is tied but llama.cpp requires one.
  void add_head() {
    if (family_.head != arch::Presence::required || !embedding_) return;
    const auto name = arch::spell(family_, Dialect::gguf, {.role = Role::output_head});
    if (!name || std::ranges::find(out_, *name, &Tensor::name) != out_.end()) return;
    Tensor head = *embedding_;
    head.name = *name;
    head.attributes.set(kCopied, true);
    out_.push_back(std::move(head));
  }

  // Records the prefix of the tensor names if it is not the usual one: GGUF's names do not have it.
  void keep_root() {
    if (dialect_ != Dialect::hugging_face) return;
    const auto found =
        std::ranges::find_if(names_, [](const TensorName& name) { return name.role != Role::output_head; });
    if (found != names_.end() && found->root != arch::Root::model)
      model_.metadata.set(kRootKey, arch::name_of(found->root));
  }

  std::uint64_t head_size() const {
    const Config& config = model_.config;
    if (config.head_dim.value_or(0) > 0) return static_cast<std::uint64_t>(*config.head_dim);
    const std::int64_t heads = config.num_attention_heads.value_or(0);
    return heads > 0 ? static_cast<std::uint64_t>(config.hidden_size.value_or(0) / heads) : 0;
  }

  void add_rope_factors() {
    const auto add = [&](Role role, const std::vector<float>& values) {
      const auto name = arch::spell(family_, Dialect::gguf, {.role = role});
      if (name && !values.empty())
        out_.push_back(dense<float>(*name, {static_cast<std::uint64_t>(values.size())}, values));
    };
    if (const auto scaling = llama3_scaling(config_))
      add(Role::rope_factors, llama3_divisors(*scaling, model_.config.rope_theta.value_or(10000), head_size()));
    for (const auto& [role, key] :
         {std::pair(Role::rope_factors_long, "long_factor"), std::pair(Role::rope_factors_short, "short_factor")})
      if (const Value* const found = RopeFile(config_).find(key); found != nullptr && found->get<List>() != nullptr) {
        std::vector<float> values;
        for (const Value& value : *found->get<List>())
          values.push_back(static_cast<float>(resources::number_of(value).value_or(1)));
        add(role, values);
      }
  }

  void report() {
    std::string detail = fmt::format("{} tensors have llama.cpp's names", out_.size());
    if (reordered_ > 0) detail += fmt::format(", {} of them (q and k) its order of rows", reordered_);
    if (stacked_ > 0) detail += fmt::format(", {} are stacks of experts", stacked_);
    if (shifted_ > 0) detail += fmt::format(", to {} norms {} was added", shifted_, family_.norm_shift);
    changes_.push_back({.impact = Impact::detail, .detail = std::move(detail)});
    if (!widened_.empty())
      changes_.push_back({.kind = ChangeKind::widened,
                          .impact = Impact::detail,
                          .items = widened_,
                          .before = "16 bits",
                          .after = std::string(name_of(DType::f32))});
    if (!omitted_.empty())
      changes_.push_back({.kind = ChangeKind::skipped, .impact = Impact::detail, .items = omitted_});
  }

  Model& model_;
  const arch::Family& family_;
  const ConfigFile& config_;
  std::vector<Change>& changes_;
  std::vector<Renamed>& renamed_;
  arch::HeadRows head_rows_;
  Dialect dialect_ = Dialect::hugging_face;
  std::vector<TensorName> names_;
  std::vector<Tensor> out_;
  std::optional<Tensor> embedding_;
  std::vector<Tensor> heads_;  // heads that llama.cpp does not load
  std::map<std::pair<std::uint32_t, Role>, std::map<std::uint32_t, Tensor>> experts_;
  std::vector<std::string> omitted_, widened_;
  std::size_t reordered_ = 0, shifted_ = 0, stacked_ = 0;
};

}  // namespace

bool follows_llama_cpp(const Model& model, const arch::Family& family) {
  bool follows = false;
  for (const Tensor& tensor : model.tensors) {
    const auto is = [&](Dialect dialect) { return arch::parse(family, dialect, tensor.name).has_value(); };
    const bool elsewhere = is(Dialect::hugging_face) || is(Dialect::meta);
    if (elsewhere && !is(Dialect::gguf)) return false;
    follows = follows || (!elsewhere && is(Dialect::gguf));
  }
  return follows;
}

void adopt_tensors(Model& model, const arch::Family& family, const ConfigFile& config, std::vector<Change>& changes,
                   std::vector<Renamed>& renamed) {
  TensorAdopter(model, family, config, changes, renamed).run();
}

namespace {

// Returns whether only llama.cpp's converter gives such a name. Works for families that Tare does not know.
bool has_name_of_llama_cpp(const Tensor& tensor) {
  constexpr std::string_view kBeginnings[] = {"blk.",   "enc.blk.", "dec.blk.",     "token_embd", "output_norm",
                                              "v.blk.", "a.blk.",   "v.patch_embd", "mm."};
  return std::ranges::any_of(kBeginnings, [&](std::string_view word) { return tensor.name.starts_with(word); });
}

// Returns whether a model is in llama.cpp's form. Only the tensor names decide: any program can put a key of GGUF into
// the metadata of any file.
bool is_in_form(const Model& model) {
  const arch::Family* const family = model.config.model_type ? arch::find_family(*model.config.model_type) : nullptr;
  if (family != nullptr && follows_llama_cpp(model, *family)) return true;
  const bool elsewhere = family != nullptr && std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
                           return arch::parse(*family, Dialect::hugging_face, tensor.name) ||
                                  arch::parse(*family, Dialect::meta, tensor.name);
                         });
  return !elsewhere && std::ranges::any_of(model.tensors, has_name_of_llama_cpp);
}

// Returns whether the key begins with the architecture of a known family, or of this model.
bool is_hyper_parameter(const Model& model, std::string_view key) {
  const auto begins = [&](std::string_view word) {
    return !word.empty() && key.starts_with(word) && key.substr(word.size()).starts_with('.');
  };
  return begins(model.config.model_type.value_or("")) ||
         std::ranges::any_of(arch::families(), [&](const arch::Family& family) { return begins(family.gguf); });
}

// Returns whether a GGUF file has the key from its model or its writer. The name of the pre-tokenizer is excepted: a
// directory keeps it in its metadata, because its files have no key for it.
bool is_key_of_form(std::string_view key) {
  constexpr std::string_view kKeys[] = {kArchitectureKey, kAlignmentKey, "general.type", "general.file_type",
                                        "general.quantization_version"};
  constexpr std::string_view kGroups[] = {"gguf.", "tokenizer.", "split.", "adapter."};
  const auto begins = [&](std::string_view word) { return key.starts_with(word); };
  const auto of_family = [&](const arch::Family& family) {
    return !family.gguf.empty() && key.starts_with(family.gguf) && key.substr(family.gguf.size()).starts_with('.');
  };
  return key != kPreTokenizerKey &&
         (std::ranges::find(kKeys, key) != std::end(kKeys) || std::ranges::any_of(kGroups, begins) ||
          std::ranges::any_of(arch::families(), of_family));
}

// Throws `convert.config` if sizes are missing that llama.cpp does not take from the tensors. No model_type has
// defaults for them.
void require_keys(const Model& model, const ConfigFile& config) {
  if (config.empty()) return;
  const Map fields = model.config.to_map();
  std::vector<std::string_view> missing;
  for (const std::string_view key : {"hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads"})
    if (fields.find(key) == nullptr) missing.push_back(key);
  if (!missing.empty())
    throw Error(ErrorKind::unsupported, "convert.config",
                fmt::format("expected {}, which llama.cpp needs, found none", fmt::join(missing, ", ")))
        .about("config.json")
        .blame(Subject::input)
        .remedy(Remedy::keep_names);
}

// Returns the architecture that llama.cpp has for the way in which the model attends; as the other it would compute
// something else. Null if there is only one.
const arch::Family* bidirectional_family(const arch::Family& family, const ConfigFile& config) {
  const Value* const both_ways = config.find("use_bidirectional_attention");
  if (family.runtime.bidirectional != false || both_ways == nullptr || *both_ways != true) return nullptr;
  return arch::find_gguf_family(family.runtime.bidirectional_twin);
}

}  // namespace

namespace {

// Lists the keys of config.json that became keys of the file or that agree with what llama.cpp assumes. Keys that
// disagree have been reported.
void report_taken_keys(const Model& model, const ConfigFile& config, std::vector<Change>& changes) {
  const Attachment* const file = model.attachment("config.json");
  if (config.empty() || file == nullptr) return;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  std::vector<std::string> keys;
  for (resources::LostKey& key : resources::keys_beyond_config(as_text(bytes), !model.vocabulary.tokens.empty()))
    if (config.was_asked_for(key.name)) keys.push_back(std::move(key.name));
  if (!keys.empty())
    changes.push_back({.kind = ChangeKind::kept_as,
                       .impact = Impact::detail,
                       .part = "config.json",
                       .items = std::move(keys),
                       .after = "llama.cpp has them"});
}

// Drops keys of GGUF from a model that is not in llama.cpp's form: they do not come from a GGUF file. The kind of the
// tokenizer stays for adopt_tokenizer: the tokens alone may not show it.
void disown_keys(Model& model, std::vector<Change>& changes) {
  std::vector<std::string> keys;
  model.metadata.erase_if([&](const Map::Entry& entry) {
    if (!is_key_of_form(entry.first) || (entry.first == kTokenizerModel && !model.vocabulary.tokens.empty()))
      return false;
    keys.push_back(entry.first);
    return true;
  });
  if (!keys.empty())
    changes.push_back({.kind = ChangeKind::left_out,
                       .impact = Impact::lost,
                       .part = "metadata",
                       .items = std::move(keys),
                       .detail = "keys of a GGUF file, in a model whose tensors do not have the names of one"});
}

}  // namespace

bool follows(const Model& model) { return is_adapter(model) || is_in_form(model); }

bool owns_key(const Model& model, std::string_view key) {
  return is_key_of_form(key) || key == kPreTokenizerKey || key.starts_with(kFilePrefix) || key == kPrivateKey ||
         key.starts_with("GGUF.") || is_hyper_parameter(model, key);
}

bool describes_model(const Model& model, std::string_view key) {
  if (key.starts_with("tokenizer.")) return key != kPreTokenizerKey && !model.vocabulary.empty();
  return (key == kArchitectureKey || is_hyper_parameter(model, key)) && !model.config.empty();
}

void adopt(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) {
  if (!model.tensors.empty() && !is_adapter(model) && !is_in_form(model)) disown_keys(model, changes);
  if (adopt_adapter(model, changes, renamed)) return;
  if (!model.config.model_type || model.tensors.empty()) return;
  const std::string type = *model.config.model_type;
  const arch::Family* family = arch::find_family(type);
  if (is_in_form(model)) return;
  if (family == nullptr || family->gguf.empty())
    throw unmapped(fmt::format("llama.cpp's tensor names for a {} model are not known (found {})", quote(type), [&] {
      std::vector<std::string> names;
      for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
      return listed_names(std::move(names));
    }()));
  const ConfigFile config(model);
  if (const arch::Family* const other = bidirectional_family(*family, config)) {
    family = other;
    model.config.model_type = family->model_types.front();
  }
  resources::assume_fields(model.config, config);
  require_keys(model, config);
  adopt_tensors(model, *family, config, changes, renamed);
  adopt_general(model, config);
  adopt_keys(model, *family, config, changes);
  adopt_tokenizer(model, *family, changes);
  report_taken_keys(model, config, changes);
}

}  // namespace tare::gguf
