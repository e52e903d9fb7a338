// Converts from llama.cpp's conventions back to Hugging Face's: the tensors, and the files with everything else.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "codecs/packs/expert_arrays.hpp"
#include "formats/gguf/llama_cpp/arch_keys.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "formats/gguf/llama_cpp/towers.hpp"
#include "resources/config_quantization.hpp"
#include "resources/json_file.hpp"
#include "resources/packed_config.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Returns whether keys of the family become tensors.
bool makes_numbers(const arch::Family& family) {
  return std::ranges::any_of(family.names, [](arch::Patterns patterns) {
    return std::ranges::any_of(patterns, [](const arch::Pattern& row) {
      return std::ranges::find(row.steps, arch::Verb::to_key, &arch::Step::verb) != row.steps.end();
    });
  });
}

// Removes keys that the attached files repeat, and keys that describe the GGUF file.
void forget_keys(Model& model, const arch::Family& family) {
  const std::string prefix = key_of(family, "");
  constexpr std::string_view kOfFile[] = {
      kKeysKey,  kPlainTokensKey, kPaddedKey,          kAlignmentKey,        kRootKey,
      kTowerKey, "general.type",  "general.file_type", "general.size_label", "general.quantization_version"};
  // config.json implies the name.
  if (const Value* const name = model.metadata.find("general.name");
      name != nullptr && *name == Value(general_name(ConfigFile(model))))
    model.metadata.erase("general.name");
  // Several names have the same cuts and flags, and the cuts of some names are unknown. The files cannot reproduce such
  // a name, so it stays in the metadata.
  const bool keeps_name = !names_attached_cuts(model);
  model.metadata.erase_if([&](const Map::Entry& entry) {
    if (entry.first == kPreTokenizerKey && keeps_name) return false;
    return entry.first.starts_with(prefix) || entry.first.starts_with("tokenizer.") ||
           (entry.first.starts_with("xielu.") && makes_numbers(family)) ||
           std::ranges::find(kOfFile, entry.first) != std::end(kOfFile);
  });
}

// Decides the prefix of the tensor names: the recorded one, if Tare wrote the file. Otherwise an embedding model has no
// head and the names of the class without one.
Way way_back(const Model& model, const arch::Family& family) {
  Way way{.root = family.root, .has_config = model.attachment("config.json") != nullptr};
  const Value* const kept = model.metadata.find(kRootKey);
  const auto root = kept == nullptr || kept->text() == nullptr ? std::nullopt : arch::parse_root(*kept->text());
  // A recorded prefix needs the original config.json; only the bare prefix has a class that a made config.json can
  // name.
  if (root && (way.has_config || *root == arch::Root::bare)) {
    way.root = *root;
  } else if (!way.has_config) {
    const auto head = arch::spell(family, arch::Dialect::gguf, {.role = arch::Role::output_head});
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
  const auto table = arch::spell(*family, arch::Dialect::gguf, {.role = arch::Role::token_embedding});
  return (table && model.tensor(*table) != nullptr) || follows_llama_cpp(model, *family) ? family : nullptr;
}

// Throws `convert.names` for a model in llama.cpp's form whose form elsewhere is not known. With llama.cpp's names, a
// directory would have no tensor that the class in its config.json asks for, and programs would fill all with random
// numbers.
void require_no_form(const Model& model) {
  if (!model.config.model_type || model.tensors.empty() || !follows(model)) return;
  std::vector<std::string> names;
  for (const Tensor& tensor : model.tensors) names.push_back(tensor.name);
  throw no_way_back(fmt::format("what the tensors of a {} model in GGUF's form are called elsewhere is not known ({})",
                                quote(*model.config.model_type), listed_names(std::move(names))));
}

// The text model of some multimodal ones is of another family's class, and that of GGUF's other architecture computes the
// same for texts. Gives the model that one's keys; the tensors have the same names.
const arch::Family& as_text_model(Model& model, const arch::Family& family) {
  const arch::Family* const twin = arch::find_gguf_family(family.runtime.text_twin);
  if (twin == nullptr || model.attachment("config.json") != nullptr) return family;
  for (const std::string_view key : {"rope.dimension_sections", "n_deepstack_layers"})
    model.metadata.erase(key_of(family, key));
  const std::string before = key_of(family, "");
  Map renamed;
  for (const auto& [key, value] : model.metadata)
    renamed.append(key.starts_with(before) ? key_of(*twin, std::string_view(key).substr(before.size())) : key, value);
  model.metadata = std::move(renamed);
  model.config.model_type = std::string(twin->model_types.front());
  return *twin;
}

bool states_experts_packed(const Model& model) {
  return resources::stated_in_files(model).method == codec::packs::kExpertArrays;
}

// The experts have been quantized otherwise since, or decoded. A class whose config.json states MXFP4 would look for
// its arrays.
void forget_packed_experts(Model& model, std::vector<Change>& changes) {
  if (!states_experts_packed(model)) return;
  const auto file = std::ranges::find(model.attachments, std::string_view("config.json"), &Attachment::name);
  const Bytes bytes = file->blob.bytes(resources::kMaxSmallBytes);
  const auto plain = resources::without_quantization(as_text(bytes));
  if (!plain) return;
  file->blob = Blob::memory(to_bytes(plain->text));
  changes.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::detail,
                     .part = "config.json",
                     .items = plain->keys,
                     .detail = "the experts are not packed"});
}

}  // namespace

std::size_t count_released(const Model& model) {
  const arch::Family* const family = named_family(model);
  if (family == nullptr) return 0;
  if (is_adapter(model)) return model.tensors.size();
  if (lacks_fields(model, *family)) return 0;
  return count_released_tensors(model, *family, model.attachment("config.json") != nullptr);
}

void release(Model& model, std::vector<Change>& changes, std::vector<Renamed>& renamed) {
  const arch::Family* family = named_family(model);
  if (family == nullptr) return require_no_form(model);
  if (lacks_tower(model)) forget_tower(model, changes);
  if (!is_adapter(model)) family = &as_text_model(model, *family);
  require_fields(model, *family);
  if (is_adapter(model)) return release_adapter(model, *family, changes, renamed);
  Way way = way_back(model, *family);
  way.packs = can_pack(model, *family) && (!way.has_config || states_experts_packed(model));
  if (way.has_config && !way.packs && !family->runtime.unpacked_modules.empty()) forget_packed_experts(model, changes);
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

}  // namespace tare::gguf::llama_cpp
