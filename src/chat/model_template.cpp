// Where models keep their chat templates, and what a template is given.
#include <algorithm>

#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/chat.hpp"

namespace tare::chat {
namespace {

// Keys of metadata, files whose text is a template, and JSON files with a key for it.
constexpr std::string_view kKeys[] = {"tokenizer.chat_template", "chat_template"};
constexpr std::string_view kTextFile = "chat_template.jinja";
constexpr std::string_view kJsonFiles[] = {"chat_template.json", "tokenizer_config.json"};
constexpr std::string_view kTokenFiles[] = {"tokenizer_config.json", "special_tokens_map.json"};

std::optional<std::string> text_of_file(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return std::nullopt;
  const Bytes bytes = file->blob.bytes(resources::kMaxFileBytes);
  return std::string(as_text(bytes));
}

// A text, or the one called "default" of several.
std::optional<std::string> template_in(const Value* found) {
  if (found == nullptr) return std::nullopt;
  if (found->text() != nullptr) return *found->text();
  const List* const several = found->get<List>();
  if (several == nullptr) return std::nullopt;
  for (const Value& one : *several) {
    const Map* const named = one.get<Map>();
    if (named == nullptr) continue;
    const std::string *const name = named->get<std::string>("name"), *const text = named->get<std::string>("template");
    if (name != nullptr && text != nullptr && *name == "default") return *text;
  }
  return std::nullopt;
}

struct SpecialToken {
  std::string_view name;
  std::int64_t Vocabulary::*id;
};
constexpr SpecialToken kSpecial[] = {{"bos_token", &Vocabulary::bos}, {"eos_token", &Vocabulary::eos},
                                     {"unk_token", &Vocabulary::unk}, {"pad_token", &Vocabulary::pad},
                                     {"sep_token", nullptr},          {"cls_token", nullptr},
                                     {"mask_token", nullptr}};

void set_special_tokens(const Model& model, Map& variables) {
  std::vector<Map> files;
  for (const std::string_view name : kTokenFiles)
    if (const auto text = text_of_file(model, name)) files.push_back(resources::parse_small_json(*text));
  for (const auto& [name, id] : kSpecial) {
    const Value* stated = nullptr;
    for (const Map& file : files)
      if (stated == nullptr) stated = file.find(name);
    if (stated != nullptr) {
      // Null in one file: the token does not exist.
      const Map* const object = stated->get<Map>();
      const std::string* const text = object == nullptr ? stated->text() : object->get<std::string>("content");
      if (text != nullptr) variables.set(name, *text);
      continue;
    }
    if (id == nullptr) continue;
    const std::int64_t number = model.vocabulary.*id;
    if (number >= 0 && static_cast<std::uint64_t>(number) < model.vocabulary.tokens.size())
      variables.set(name, model.vocabulary.tokens[static_cast<std::size_t>(number)].text);
  }
}

}  // namespace

std::optional<std::string> template_of(const Model& model) {
  for (const std::string_view key : kKeys)
    if (auto text = template_in(model.metadata.find(key))) return text;
  if (auto text = text_of_file(model, kTextFile)) return text;
  for (const std::string_view name : kJsonFiles)
    if (const auto text = text_of_file(model, name))
      if (auto found = template_in(resources::parse_small_json(*text).find("chat_template"))) return found;
  return std::nullopt;
}

Map conversation(const Model& model, std::span<const Message> messages, bool add_generation_prompt) {
  Map variables;
  List list;
  for (const Message& message : messages) {
    Map one;
    one.set("role", message.role);
    one.set("content", message.content);
    list.emplace_back(std::move(one));
  }
  variables.set("messages", std::move(list));
  variables.set("tools", nullptr);
  variables.set("documents", nullptr);
  variables.set("add_generation_prompt", add_generation_prompt);
  set_special_tokens(model, variables);
  return variables;
}

}  // namespace tare::chat
