// Reads from the keys how a text becomes tokens; missing keys have llama.cpp's defaults.
#include "formats/stated_tokenizer.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "formats/gguf/llama_cpp/conventions.hpp"

namespace tare::gguf::llama_cpp {
namespace {

class StatedKeys {
 public:
  explicit StatedKeys(const Model& model) : model_(model) {}

  bool flag(std::string_view key, bool otherwise) const {
    const bool* const value = model_.metadata.get<bool>(key);
    return value == nullptr ? otherwise : *value;
  }
  std::string text(std::string_view key) const {
    const auto* const value = model_.metadata.get<std::string>(key);
    return value == nullptr ? std::string() : *value;
  }
  // The id of a token that exists; `otherwise` if the key does not have one.
  std::int64_t id(std::string_view key, std::int64_t otherwise) const {
    const auto* const value = model_.metadata.get<std::int64_t>(key);
    return value == nullptr || !exists(*value) ? otherwise : *value;
  }
  bool exists(std::int64_t id) const {
    return id >= 0 && static_cast<std::size_t>(id) < model_.vocabulary.tokens.size();
  }
  // Bytes, which are an array of numbers in a file.
  std::string bytes(std::string_view key) const {
    if (const auto* const value = model_.metadata.get<Bytes>(key)) return std::string(as_text(*value));
    const auto* const list = model_.metadata.get<List>(key);
    std::string bytes;
    for (const Value& item : list == nullptr ? List() : *list) {
      const auto* const number = item.get<std::int64_t>();
      bytes += static_cast<char>(number == nullptr ? 0 : *number);
    }
    return bytes;
  }

 private:
  const Model& model_;
};

std::optional<StatedTokenizer> by_keys(const Model& model) {
  constexpr std::string_view kPrefix = "tokenizer.ggml.";
  const auto is_about_tokens = [&](const Map::Entry& entry) { return entry.first.starts_with(kPrefix); };
  if (model.vocabulary.tokens.empty() || std::none_of(model.metadata.begin(), model.metadata.end(), is_about_tokens))
    return std::nullopt;
  const StatedKeys keys(model);
  const Vocabulary& ids = model.vocabulary;
  StatedTokenizer stated;
  stated.kind = ids.kind.empty() ? keys.text(kTokenizerModel) : ids.kind;
  stated.cuts_name = keys.text(kPreTokenizerKey);
  stated.cuts = cuts_of(stated.cuts_name);
  const PreFlags flags = flags_of(stated.cuts_name).value_or(PreFlags());
  stated.ignores_merges = flags.ignores_merges;
  stated.adds_blank = keys.flag("tokenizer.ggml.add_space_prefix", true);
  stated.joins_blanks = keys.flag("tokenizer.ggml.remove_extra_whitespaces", false);
  stated.characters = keys.bytes("tokenizer.ggml.precompiled_charsmap");
  stated.longest_word = SIZE_MAX;
  stated.lower_case = keys.flag("tokenizer.ggml.normalizer.lowercase", true);
  const auto put = [&](std::int64_t id, bool wanted, std::vector<std::int64_t>& into) {
    if (wanted && keys.exists(id)) into.push_back(id);
  };
  if (ids.kind == "wordpiece") {
    put(keys.id("tokenizer.ggml.cls_token_id", ids.bos), true, stated.before);
    put(keys.id("tokenizer.ggml.seperator_token_id", ids.eos), true, stated.behind);
  } else {
    put(ids.bos, keys.flag("tokenizer.ggml.add_bos_token", ids.kind == "spm" || (ids.kind == "bpe" && flags.begins)),
        stated.before);
    put(ids.eos, keys.flag("tokenizer.ggml.add_eos_token", ids.kind == "unigram"), stated.behind);
  }
  if (const auto* const plain = model.metadata.get<List>(kPlainTokensKey))
    for (const Value& id : *plain)
      if (const auto* const number = id.get<std::int64_t>(); number != nullptr && keys.exists(*number))
        stated.plain.push_back(*number);
  return stated;
}

}  // namespace
}  // namespace tare::gguf::llama_cpp

std::optional<tare::StatedTokenizer> tare::stated_tokenizer(const Model& model) {
  return gguf::llama_cpp::by_keys(model);
}
