// Converts a model to llama.cpp's conventions: which models, in which order, and which keys are those of a GGUF file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/expected.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/gguf/llama_cpp/by_layer.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/gguf/llama_cpp/towers.hpp"
#include "resources/config_parts.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {

bool follows_llama_cpp(const Model& model, const arch::Family& family) {
  bool follows = false;
  for (const Tensor& tensor : model.tensors) {
    const auto is = [&](arch::Dialect dialect) { return arch::parse(family, dialect, tensor.name).has_value(); };
    const bool elsewhere = is(arch::Dialect::hugging_face) || is(arch::Dialect::meta);
    if (elsewhere && !is(arch::Dialect::gguf)) return false;
    follows = follows || (!elsewhere && is(arch::Dialect::gguf));
  }
  return follows;
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
                           return arch::parse(*family, arch::Dialect::hugging_face, tensor.name) ||
                                  arch::parse(*family, arch::Dialect::meta, tensor.name);
                         });
  return !elsewhere && std::ranges::any_of(model.tensors, has_name_of_llama_cpp);
}

// Returns a remark on the known family that has most names in common; empty if none has half of them.
std::string resemblance(const Model& model) {
  constexpr std::size_t kMost = 1000;
  const std::size_t count = std::min(model.tensors.size(), kMost);
  const std::span<const Tensor> some = std::span(model.tensors).first(count);
  const arch::Family* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const arch::Family& family : arch::families()) {
    if (family.gguf.empty()) continue;
    const std::ptrdiff_t known = std::ranges::count_if(some, [&](const Tensor& tensor) {
      return arch::parse(family, arch::Dialect::hugging_face, tensor.name).has_value();
    });
    if (known > most) best = &family, most = known;
  }
  if (best == nullptr || static_cast<std::size_t>(most) * 2 < count) return {};
  return fmt::format("; {} of {} are names of a {} model", most, count, best->model_types.front());
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
  constexpr std::string_view kGroups[] = {"gguf.", "tokenizer.", "split.", "adapter.", "xielu."};
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
void require_keys(const Model& model, const arch::Family& family, const ConfigFile& config) {
  if (config.empty()) return;
  const Map fields = model.config.to_map();
  std::vector<std::string_view> missing;
  const auto is_optional = [&](std::string_view key) {
    if (key == "num_attention_heads") return family.runtime.only_states;
    return key == "intermediate_size" && (family.runtime.has_only_experts || family.runtime.only_states);
  };
  for (const std::string_view key : {"hidden_size", "num_hidden_layers", "intermediate_size", "num_attention_heads"})
    if (fields.find(key) == nullptr && !is_optional(key)) missing.push_back(key);
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

// Sets the number of layers from the list of their kinds. Returns the family for models without experts if there are none.
const arch::Family* take_layer_kinds(Model& model, const arch::Family& family, const ConfigFile& config) {
  if (!family.runtime.mixes_layers || config.empty()) return nullptr;
  const auto kinds = stated_layer_kinds(config);
  model.config.num_hidden_layers = std::ssize(kinds);
  const auto has = [&](arch::LayerKind kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  if (!has(arch::LayerKind::experts)) return arch::find_gguf_family(family.runtime.expert_twin);
  if (has(arch::LayerKind::network))
    throw Error(ErrorKind::unsupported, "convert.config",
                fmt::format("{}: some layers have experts and others a network, and llama.cpp knows one or the other",
                            arch::kLayerKinds))
        .about("config.json")
        .blame(Subject::input)
        .remedy(Remedy::keep_names);
  return nullptr;
}

// The family for an encoder alone, if the model has no decoder. Null for other families.
const arch::Family* family_without_decoder(const Model& model, const arch::Family& family) {
  if (!family.runtime.has_decoder) return nullptr;
  const bool has = std::ranges::any_of(model.tensors, [&](const Tensor& tensor) {
    const auto name = arch::parse(family, arch::Dialect::hugging_face, tensor.name);
    return name && name->role == arch::Role::decoder_final_norm;
  });
  return has ? nullptr : arch::find_gguf_family(family.runtime.expert_twin);
}

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
  const ConfigFile config(model);
  const arch::Tower* const tower = arch::find_tower(type);
  // The language model of some multimodal models may be of any family.
  if (family == nullptr && tower != nullptr) {
    family = arch::find_family(config.model_type());
    if (family != nullptr) model.config.model_type = config.model_type();
  }
  if (tower != nullptr && family != nullptr) leave_out_tower(model, *tower, changes);
  if (family == nullptr || family->gguf.empty())
    throw unmapped(fmt::format(
        "llama.cpp's tensor names for a {} model are not known (found {}{})", quote(type),
        [&] {
          std::vector<std::string> names;
          for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
          return listed_names(std::move(names));
        }(),
        resemblance(model)));
  if (const arch::Family* const other = bidirectional_family(*family, config)) {
    family = other;
    model.config.model_type = family->model_types.front();
  }
  if (const arch::Family* const other = take_layer_kinds(model, *family, config)) {
    family = other;
    model.config.model_type = family->model_types.front();
  }
  if (const arch::Family* const other = family_without_decoder(model, *family)) {
    family = other;
    model.config.model_type = family->model_types.front();
  }
  resources::assume_fields(model.config, config);
  take_first_network(model.config, *family, config);
  arch::assume_widening(*family, model.config);
  require_keys(model, *family, config);
  adopt_tensors(model, *family, config, changes, renamed);
  adopt_general(model, config);
  adopt_keys(model, *family, config, changes);
  adopt_tokenizer(model, *family, changes);
  report_taken_keys(model, config, changes);
}

}  // namespace tare::gguf::llama_cpp
