// Makes tokenizer.json and tokenizer_config.json from the vocabulary and the keys.
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
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

constexpr std::string_view kSpaceKey = "tokenizer.ggml.add_space_prefix",
                           kCharactersKey = "tokenizer.ggml.precompiled_charsmap",
                           kBlanksKey = "tokenizer.ggml.remove_extra_whitespaces",
                           kBosKey = "tokenizer.ggml.add_bos_token", kEosKey = "tokenizer.ggml.add_eos_token";

// Further tokens with a role, and their names in tokenizer_config.json. "seperator" is how GGUF spells it.
constexpr std::pair<std::string_view, std::string_view> kRoles[] = {{"tokenizer.ggml.cls_token_id", "cls_token"},
                                                                    {"tokenizer.ggml.mask_token_id", "mask_token"},
                                                                    {"tokenizer.ggml.seperator_token_id", "sep_token"}};

// Without a known kind, tokenizer.json is made by what the tokens look like.
void report_unknown_kind(const Origin& origin) {
  const std::string* const said = origin.words.text(kTokenizerModel);
  if (!origin.model.vocabulary.kind.empty()) return;
  const std::string which =
      said == nullptr ? "of a kind that the file does not state" : fmt::format("of the kind \"{}\"", quote(*said));
  origin.changes.push_back(
      {.kind = ChangeKind::remark,
       .impact = Impact::results,
       .part = "tokenizer.json",
       .detail = fmt::format("how a tokenizer {} splits text is not known; its rules are a guess", which)});
}

resources::TokenizerRules tokenizer_rules(const Origin& origin) {
  resources::TokenizerRules rules;
  const Vocabulary& vocabulary = origin.model.vocabulary;
  // Some containers do not keep the kind.
  report_unknown_kind(origin);
  rules.byte_level = vocabulary.kind == "bpe" || (vocabulary.kind.empty() && resources::is_byte_level(vocabulary));
  rules.adds_blank = origin.words.flag(kSpaceKey, vocabulary.kind != "unigram");
  const auto text = [&](std::int64_t id) {
    return id >= 0 && static_cast<std::size_t>(id) < vocabulary.tokens.size()
               ? vocabulary.tokens[static_cast<std::size_t>(id)].text
               : std::string();
  };
  const std::string* const pre = origin.words.text(kPreTokenizerKey);
  const std::string name = pre != nullptr ? *pre : "default";
  const PreFlags flags = flags_of(name).value_or(PreFlags());
  // The runtime's defaults for missing keys.
  const bool begins = vocabulary.kind == "spm" || flags.begins;
  if (origin.words.flag(kBosKey, begins) && !text(vocabulary.bos).empty()) rules.before.push_back(text(vocabulary.bos));
  if (origin.words.flag(kEosKey, vocabulary.kind == "unigram") && !text(vocabulary.eos).empty())
    rules.behind.push_back(text(vocabulary.eos));
  rules.ignores_merges = flags.ignores_merges;
  const bool rewrites = origin.words.find(kCharactersKey) != nullptr;
  if (origin.words.flag(kBlanksKey, false) || rewrites)
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
    origin.words.ignore(key);
    Map one;
    one.append("name", key == kTemplateKey ? std::string("default") : key.substr(prefix.size()));
    one.append("template", *value.text());
    named.emplace_back(std::move(one));
  }
  const Value* const usual = origin.model.metadata.find(kTemplateKey);
  // A template that is not UTF-8 is not text: it is among the keys that the files cannot have.
  if (named.size() == 1 && usual != nullptr && usual->text() != nullptr)
    keys.set("chat_template", *usual);
  else if (!named.empty())
    keys.set("chat_template", std::move(named));
}

std::string tokenizer_config(const Origin& origin) {
  Map keys = resources::parse_small_json(resources::tokenizer_config_json(origin.model.vocabulary));
  add_templates(origin, keys);
  for (const auto& [name, key] : {std::pair("add_bos_token", kBosKey), std::pair("add_eos_token", kEosKey)})
    if (const Value* const said = origin.words.find(key); said != nullptr && said->get<bool>() != nullptr)
      keys.set(name, *said);
  for (const auto& [key, name] : kRoles)
    if (const auto id = origin.words.id(key)) {
      const std::string& text = origin.model.vocabulary.tokens[static_cast<std::size_t>(*id)].text;
      if (is_valid_utf8(text)) keys.set(name, text);
    }
  const std::string* const pre = origin.words.text(kPreTokenizerKey);
  if (pre != nullptr && origin.model.vocabulary.kind == "bpe")
    if (const auto flags = flags_of(*pre)) keys.set("clean_up_tokenization_spaces", !flags->keeps_blanks);
  return write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n';
}

// A text ends with the token that ends a turn or a message, too. config.json has one such token, generation_config.json a
// list.
void attach_generation(const Origin& origin) {
  const Vocabulary& vocabulary = origin.model.vocabulary;
  // Files of the original know more than the keys.
  if (origin.way.has_config || origin.model.attachment("generation_config.json") != nullptr) return;
  List ends;
  const auto add = [&](std::optional<std::int64_t> id) {
    if (id && *id >= 0 && std::ranges::find(ends, Value(*id)) == ends.end()) ends.emplace_back(*id);
  };
  add(vocabulary.eos);
  for (const std::string_view key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    add(origin.words.id(key));
  if (ends.empty() || (ends.size() == 1 && ends.front() == Value(vocabulary.eos))) return;
  Map keys;
  if (vocabulary.bos >= 0) keys.set("bos_token_id", vocabulary.bos);
  keys.set("eos_token_id", std::move(ends));
  if (vocabulary.pad >= 0) keys.set("pad_token_id", vocabulary.pad);
  origin.attach("generation_config.json", write_json(keys, {.keys = JsonKeys::sorted, .indent = 2}) + '\n');
}

}  // namespace

const Value* TokenizerKeys::find(std::string_view key) const {
  const Value* const found = model_.metadata.find(key);
  if (found != nullptr) read_.emplace(key);
  return found;
}

const std::string* TokenizerKeys::text(std::string_view key) const {
  const Value* const found = find(key);
  return found == nullptr ? nullptr : found->text();
}

bool TokenizerKeys::flag(std::string_view key, bool otherwise) const {
  const Value* const found = find(key);
  return found != nullptr && found->get<bool>() != nullptr ? *found->get<bool>() : otherwise;
}

std::optional<std::int64_t> TokenizerKeys::id(std::string_view key) const {
  const Value* const found = model_.metadata.find(key);
  const auto* const id = found == nullptr ? nullptr : found->get<std::int64_t>();
  if (id == nullptr || *id < 0 || static_cast<std::size_t>(*id) >= model_.vocabulary.tokens.size()) return std::nullopt;
  read_.emplace(key);
  return *id;
}

std::vector<std::string> TokenizerKeys::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : model_.metadata)
    if (key.starts_with("tokenizer.") && !read_.contains(key)) keys.push_back(key);
  return keys;
}

void ignore_words_of_files(const Origin& origin) {
  for (const std::string_view key : {kTokenizerModel, kSpaceKey, kCharactersKey, kBlanksKey, kBosKey, kEosKey})
    origin.words.ignore(key);
  for (const auto& [key, value] : origin.model.metadata)
    if (key.starts_with(kTemplateKey)) origin.words.ignore(key);
}

void report_unread_words(const Origin& origin) {
  // forget_keys keeps the name of the pre-tokenizer if no file implies it. The others repeat the vocabulary.
  for (const std::string_view key :
       {kPreTokenizerKey, kTemplatesKey, std::string_view("tokenizer.ggml.token_type_count")})
    origin.words.ignore(key);
  std::vector<std::string> tokens, rules;
  for (std::string& key : origin.words.unread()) {
    const Value& value = *origin.words.find(key);
    // Nothing in the files does what a flag turns off; a model without tokens states that it has none.
    if (value == false || (key == kTokenizerModel && origin.model.vocabulary.tokens.empty())) continue;
    const bool token = key.ends_with("_token_id") || key.ends_with("_tokens") || key == "tokenizer.huggingface.json" ||
                       key.starts_with(kTemplateKey);
    (token ? tokens : rules).push_back(std::move(key));
  }
  for (auto& [keys, impact] : {std::pair(&tokens, Impact::lost), std::pair(&rules, Impact::results)})
    if (!keys->empty())
      origin.changes.push_back({.kind = ChangeKind::left_out,
                                .impact = impact,
                                .part = "metadata",
                                .items = std::move(*keys),
                                .detail = "the files of a directory have no key for it"});
}

void attach_tokenizer(const Origin& origin) {
  drop_padding(origin);
  const resources::TokenizerRules rules = tokenizer_rules(origin);
  origin.attach("tokenizer.json", resources::tokenizer_json(origin.model.vocabulary, &rules));
  origin.attach("tokenizer_config.json", tokenizer_config(origin));
  attach_generation(origin);
}

}  // namespace tare::gguf::llama_cpp
