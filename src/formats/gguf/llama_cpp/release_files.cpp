#include "formats/gguf/llama_cpp/release_files.hpp"

#include <algorithm>

#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {

const Tensor* Origin::table(arch::Role role) const {
  const auto name = arch::spell(family, arch::Dialect::gguf, {.role = role});
  return name ? model.tensor(*name) : nullptr;
}

std::int64_t Origin::head_size() const {
  const Config& config = model.config;
  const std::int64_t heads = config.num_attention_heads.value_or(0);
  return config.head_dim.value_or(heads > 0 ? config.hidden_size.value_or(0) / heads : 0);
}

bool Origin::is_yarn() const {
  const std::string* const kind = keys.text("rope.scaling.type");
  return kind != nullptr && *kind == "yarn";
}

void Origin::attach(std::string name, const std::string& text) const {
  const auto bytes = std::as_bytes(std::span(text));
  model.attachments.push_back({std::move(name), Blob::memory(Bytes(bytes.begin(), bytes.end()))});
}

void Origin::report_key(std::string_view name, std::string detail) const {
  changes.push_back({.kind = ChangeKind::left_out,
                     .impact = Impact::results,
                     .part = "config.json",
                     .items = {key_of(family, name)},
                     .detail = std::move(detail)});
}

void release_files(Model& model, const arch::Family& family, const Way& way, std::vector<Change>& changes) {
  const Origin origin{model, family, way, changes, ArchKeys(model, family), TokenizerKeys(model)};
  origin.keys.ignore("pooling_type");  // for config.json: other files state it
  if (!way.has_config && !model.config.empty()) {
    origin.attach("config.json", made_config_json(origin));
    report_unstated(origin);
  }
  if (model.attachment(kModulesFile) == nullptr) attach_pooling(origin);
  const bool has_tokenizer = std::ranges::any_of(
      model.attachments, [](const Attachment& file) { return resources::holds_vocabulary(file.name); });
  // Without tokens, what the keys of a tokenizer ask for has no meaning.
  if (has_tokenizer || model.vocabulary.tokens.empty())
    ignore_words_of_files(origin);
  else
    attach_tokenizer(origin);
  report_unread_words(origin);
}

}  // namespace tare::gguf::llama_cpp
