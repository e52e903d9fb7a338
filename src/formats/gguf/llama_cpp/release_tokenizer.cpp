// Makes tokenizer.json and tokenizer_config.json from the vocabulary and the keys.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "formats/gguf/llama_cpp/release_files.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::gguf::llama_cpp {
namespace {

// Drops tokens that a converter added so that each row of the token table has one: tokenizer.json does not list such
// rows, and converting to GGUF adds them again.
void drop_padding(const Origin& origin) {
  std::vector<Token>& tokens = origin.model.vocabulary.tokens;
  const Vocabulary& ids = origin.model.vocabulary;
  const auto last = static_cast<std::int64_t>(tokens.size()) - 1;
  std::int64_t end = last;
  while (end > std::max({ids.bos, ids.eos, ids.pad, ids.unk}) &&
         tokens[static_cast<std::size_t>(end)].type == TokenType::unused &&
         tokens[static_cast<std::size_t>(end)].text == pad_text(end))
    --end;
  if (end >= 0) tokens.resize(static_cast<std::size_t>(end) + 1);
}

bool flag(const Model& model, std::string_view full_key, bool otherwise) {
  const Value* const found = model.metadata.find(full_key);
  return found != nullptr && found->get<bool>() != nullptr ? *found->get<bool>() : otherwise;
}

resources::TokenizerRules tokenizer_rules(const Origin& origin) {
  resources::TokenizerRules rules;
  const Vocabulary& vocabulary = origin.model.vocabulary;
  // Some containers do not keep the kind.
  rules.byte_level = vocabulary.kind == "bpe" || (vocabulary.kind.empty() && resources::is_byte_level(vocabulary));
  rules.adds_blank = flag(origin.model, "tokenizer.ggml.add_space_prefix", vocabulary.kind != "unigram");
  const auto text = [&](std::int64_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < vocabulary.tokens.size()
               ? vocabulary.tokens[static_cast<std::size_t>(id)].text
               : std::string();
  };
  const Value* const pre = origin.model.metadata.find(kPreTokenizerKey);
  const std::string name = pre != nullptr && pre->text() != nullptr ? *pre->text() : "default";
  const PreFlags flags = flags_of(name).value_or(PreFlags());
  // The runtime's defaults for missing keys.
  const bool begins = vocabulary.kind == "spm" || flags.begins;
  if (flag(origin.model, "tokenizer.ggml.add_bos_token", begins) && !text(vocabulary.bos).empty())
    rules.before.push_back(text(vocabulary.bos));
  if (flag(origin.model, "tokenizer.ggml.add_eos_token", vocabulary.kind == "unigram") && !text(vocabulary.eos).empty())
    rules.behind.push_back(text(vocabulary.eos));
  rules.ignores_merges = flags.ignores_merges;
  if (origin.model.metadata.find("tokenizer.ggml.precompiled_charsmap") != nullptr ||
      flag(origin.model, "tokenizer.ggml.remove_extra_whitespaces", false))
    origin.changes.push_back(
        {.kind = ChangeKind::remark,
         .impact = Impact::results,
         .part = "tokenizer.json",
         .detail = "characters are not rewritten, nor several blanks made one, as the keys ask for"});
  if (!rules.byte_level) return rules;
  if (const auto cuts = cuts_of(name)) {
    rules.cuts = *cuts;
  } else {
    rules.cuts = {"bytes"};
    const std::string what = pre == nullptr ? "the model" : fmt::format("\"{}\"", quote(name));
    origin.changes.push_back(
        {.kind = ChangeKind::remark,
         .impact = Impact::results,
         .part = "tokenizer.json",
         .detail = fmt::format("how {} splits text is not known; it is split as GPT-2 does", what)});
  }
  return rules;
}

// One template is a text; several are a list of names and texts.
void add_templates(const Origin& origin, Map& keys) {
  List named;
  const std::string prefix = fmt::format("{}.", kTemplateKey);
  for (const auto& [key, value] : origin.model.metadata) {
    if (value.text() == nullptr || (key != kTemplateKey && !key.starts_with(prefix))) continue;
    Map one;
    one.append("name", key == kTemplateKey ? std::string("default") : key.substr(prefix.size()));
    one.append("template", *value.text());
    named.emplace_back(std::move(one));
  }
  const Value* const usual = origin.model.metadata.find(kTemplateKey);
  if (named.size() == 1 && usual != nullptr)
    keys.set("chat_template", *usual);
  else if (!named.empty())
    keys.set("chat_template", std::move(named));
}

std::string tokenizer_config(const Origin& origin) {
  Map keys = resources::parse_small_json(resources::tokenizer_config_json(origin.model.vocabulary));
  add_templates(origin, keys);
  for (const char* const name : {"add_bos_token", "add_eos_token"})
    if (const Value* const said = origin.model.metadata.find(fmt::format("tokenizer.ggml.{}", name)))
      if (said->get<bool>() != nullptr) keys.set(name, *said);
  const Value* const pre = origin.model.metadata.find(kPreTokenizerKey);
  if (pre != nullptr && pre->text() != nullptr && origin.model.vocabulary.kind == "bpe")
    if (const auto flags = flags_of(*pre->text())) keys.set("clean_up_tokenization_spaces", !flags->keeps_blanks);
  return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
}

}  // namespace

void attach_tokenizer(const Origin& origin) {
  drop_padding(origin);
  const resources::TokenizerRules rules = tokenizer_rules(origin);
  origin.attach("tokenizer.json", resources::tokenizer_json(origin.model.vocabulary, &rules));
  origin.attach("tokenizer_config.json", tokenizer_config(origin));
}

}  // namespace tare::gguf::llama_cpp
