// Compares the attached files of a tokenizer with tokenizer.ggml.pre: both state how text is split.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {
namespace {

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

bool names_attached_cuts(const Model& model) {
  const std::string* const pre = pre_tokenizer_in(model);
  return pre == nullptr || name_by_files(model) == *pre;
}

bool splits_otherwise(const Model& model) {
  const std::string* const pre = pre_tokenizer_in(model);
  const std::string derived = pre == nullptr ? std::string() : name_by_files(model);
  return !derived.empty() && cuts_of(*pre) && cuts_of(*pre) != cuts_of(derived);
}

void drop_other_cuts(Model& model, const Value& before) {
  const Value* const pre = model.metadata.find(kPreTokenizerKey);
  if (pre == nullptr || *pre == before || !splits_otherwise(model)) return;
  std::erase_if(model.attachments, [](const Attachment& file) {
    return file.name != "config.json" && resources::role_of(file.name) != resources::Role::other;
  });
}

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

}  // namespace tare::gguf::llama_cpp
