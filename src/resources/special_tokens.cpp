// The tokens for bos, eos, padding and unknown: by name in tokenizer_config.json and special_tokens_map.json, by id in
// config.json.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "base/name_map.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

struct SpecialToken {
  const char* name;  // in the first two files
  const char* id;    // in config.json
  std::int64_t Vocabulary::*member;
  TokenType type;
};

constexpr SpecialToken kSpecial[] = {
    {"bos_token", "bos_token_id", &Vocabulary::bos, TokenType::bos},
    {"eos_token", "eos_token_id", &Vocabulary::eos, TokenType::eos},
    {"pad_token", "pad_token_id", &Vocabulary::pad, TokenType::pad},
    {"unk_token", nullptr, &Vocabulary::unk, TokenType::unknown},
};

// A text, or {"content": text, ...}.
const std::string* text_of(const Value& value) {
  const Map* const object = value.get<Map>();
  return object == nullptr ? value.text() : get<std::string>(*object, "content");
}

// A number, or a list of several, of which the first is the usual one. What is not an id is omitted.
std::vector<std::uint64_t> ids_of(const Value& value) {
  std::vector<std::uint64_t> ids;
  const List* const list = value.get<List>();
  for (const Value& item : list != nullptr ? std::span<const Value>(*list) : std::span<const Value>(&value, 1))
    if (const auto id = count_of(item)) ids.push_back(*id);
  return ids;
}

bool is_ordinary(TokenType type) {
  return type == TokenType::normal || type == TokenType::byte || type == TokenType::user_defined;
}

class Finder {
 public:
  Finder(Vocabulary& vocabulary, std::vector<std::string>* ignored) : vocabulary_(vocabulary), ignored_(ignored) {}

  void by_name(std::string_view file) {
    if (file.empty()) return;
    const Map root = parse_small_json(file);
    for (const SpecialToken& special : kSpecial) {
      const Value* const found = root.find(special.name);
      if (found == nullptr || found->is_null()) continue;
      const std::int64_t id = named(special.name, text_of(*found));
      if (vocabulary_.*special.member < 0) vocabulary_.*special.member = id;
      named_.insert(id);
    }
  }

  void by_id(std::string_view file) {
    if (file.empty()) return;
    const Map root = parse_small_json(file);
    for (const SpecialToken& special : kSpecial) {
      const Value* const found = special.id == nullptr ? nullptr : root.find(special.id);
      if (found == nullptr) continue;
      const std::vector<std::uint64_t> ids = ids_of(*found);
      const std::size_t count = vocabulary_.tokens.size();
      std::int64_t& known = vocabulary_.*special.member;
      const auto outside = std::ranges::find_if(ids, [&](std::uint64_t id) { return id >= count; });
      if (outside != ids.end())
        ignore(fmt::format("\"{}\" is {}, there are {} tokens", special.id, *outside, count));
      else if (known >= 0 && !ids.empty() && std::ranges::find(ids, static_cast<std::uint64_t>(known)) == ids.end())
        ignore(fmt::format("\"{}\" is {}, and the files of the tokenizer say {}", special.id, ids.front(), known));
      if (known < 0 && !ids.empty() && ids.front() < count) known = static_cast<std::int64_t>(ids.front());
    }
  }

  bool has_named(std::int64_t id) const { return named_.contains(id); }

 private:
  // Some files have an empty text if there is no such token.
  std::int64_t named(std::string_view key, const std::string* text) {
    if (text == nullptr) return ignore(fmt::format("\"{}\" is not text", key));
    if (text->empty()) return -1;
    const std::int64_t id = look_up(*text);
    return id >= 0 ? id : ignore(fmt::format("\"{}\" is \"{}\", no token of the vocabulary", key, quote(*text)));
  }

  std::int64_t ignore(std::string sentence) {
    if (ignored_ != nullptr) ignored_->push_back(std::move(sentence));
    return -1;
  }

  std::int64_t look_up(std::string_view text) {
    if (ids_.empty())
      for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id)
        ids_.emplace(vocabulary_.tokens[id].text, static_cast<std::int64_t>(id));
    const auto found = ids_.find(text);
    return found == ids_.end() ? -1 : found->second;
  }

  Vocabulary& vocabulary_;
  std::vector<std::string>* ignored_;
  std::set<std::int64_t> named_;
  NameViewMap<std::int64_t> ids_;  // by the texts of the vocabulary
};

}  // namespace

void find_special_tokens(Vocabulary& vocabulary, const SpecialTokenFiles& files, std::vector<std::string>* ignored) {
  Finder finder(vocabulary, ignored);
  finder.by_name(files.tokenizer_config);
  finder.by_name(files.special_tokens_map);
  finder.by_id(files.config);
  for (const SpecialToken& special : kSpecial) {
    const std::int64_t id = vocabulary.*special.member;
    if (id < 0 || static_cast<std::size_t>(id) >= vocabulary.tokens.size()) continue;
    // One token may have two roles; the first one determines its type.
    TokenType& type = vocabulary.tokens[static_cast<std::size_t>(id)].type;
    if (files.typed && is_ordinary(type) && !finder.has_named(id)) continue;
    if (type != TokenType::bos && type != TokenType::eos) type = special.type;
  }
}

}  // namespace tare::resources
