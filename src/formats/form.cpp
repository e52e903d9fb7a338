#include "formats/form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/printable.hpp"

namespace tare {
namespace {

// Names in the tokenizer's files and in config.json that are not fields of Config.
constexpr std::string_view kTokenizerNames[] = {"bos_token_id",  "eos_token_id",  "pad_token_id", "unk_token_id",
                                                "add_bos_token", "add_eos_token", "chat_template"};

bool is_stated(const Model& model, std::string_view key) {
  if (model.metadata.find(key) != nullptr) return false;  // the file has such a key already
  if (model.config.to_map().find(key) != nullptr) return true;
  return !model.vocabulary.empty() && std::ranges::find(kTokenizerNames, key) != std::end(kTokenizerNames);
}

Error without_effect(std::string_view key, std::string_view reason) {
  std::vector<std::string_view> titles;
  for (const Format& format : formats())
    if (format.metadata != nullptr) titles.push_back(format.title);
  return Error(
             ErrorKind::unsupported, "meta.form",
             fmt::format("{}; as metadata it would not change the model. Edit that file, or set the key on the way to "
                         "{}",
                         reason, fmt::join(titles, ", ")))
      .about(fmt::format("key {}", quote(key)));
}

}  // namespace

const Format* form_of(const Model& model) {
  const Format* const own = find_format(model.format);
  if (own != nullptr && own->metadata != nullptr) return own;
  for (const Format& format : formats())
    if (format.metadata != nullptr && format.follows != nullptr && format.follows(model)) return &format;
  return nullptr;
}

void require_plain_key(const Model& model, std::string_view key) {
  const std::string_view file =
      key.starts_with("tokenizer.") || std::ranges::find(kTokenizerNames, key) != std::end(kTokenizerNames)
          ? "a file of the tokenizer"
          : "config.json";
  for (const Format& format : formats())
    if (format.metadata != nullptr && format.metadata->describes != nullptr && format.metadata->describes(model, key))
      throw without_effect(key, fmt::format("{}'s name for what {} states here", format.title, file));
  if (is_stated(model, key)) throw without_effect(key, fmt::format("{} states it", file));
}

}  // namespace tare
