// Which tokens begin, end, pad and stand for the unknown: told by name in tokenizer_config.json and
// special_tokens_map.json, by id in config.json.
#include <string>
#include <unordered_map>

#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::resources {
namespace {

using nlohmann::json;

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
std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return {};
  const auto content = value.find("content");
  return content != value.end() && content->is_string() ? content->get<std::string>() : std::string();
}

// A number, or a list of several, of which the first is the usual one.
std::int64_t id_of(const json& value, std::size_t count) {
  const json& first = value.is_array() && !value.empty() ? value.front() : value;
  if (!first.is_number_unsigned()) return -1;
  const auto id = first.get<std::uint64_t>();
  return id < count ? static_cast<std::int64_t>(id) : -1;
}

class Finder {
 public:
  explicit Finder(Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void by_name(std::string_view file) {
    if (file.empty()) return;
    const json root = parse_small_json(file);
    for (const SpecialToken& special : kSpecial) {
      const auto found = root.find(special.name);
      if (found == root.end() || vocabulary_.*special.member >= 0) continue;
      const std::string text = text_of(*found);
      if (!text.empty()) vocabulary_.*special.member = look_up(text);
    }
  }

  void by_id(std::string_view file) {
    if (file.empty()) return;
    const json root = parse_small_json(file);
    for (const SpecialToken& special : kSpecial) {
      if (special.id == nullptr || vocabulary_.*special.member >= 0) continue;
      const auto found = root.find(special.id);
      if (found != root.end()) vocabulary_.*special.member = id_of(*found, vocabulary_.tokens.size());
    }
  }

 private:
  std::int64_t look_up(const std::string& text) {
    if (ids_.empty())
      for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id)
        ids_.emplace(vocabulary_.tokens[id].text, static_cast<std::int64_t>(id));
    const auto found = ids_.find(text);
    return found == ids_.end() ? -1 : found->second;
  }

  Vocabulary& vocabulary_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

}  // namespace

void find_special_tokens(Vocabulary& vocabulary, const SpecialTokenFiles& files) {
  Finder finder(vocabulary);
  finder.by_name(files.tokenizer_config);
  finder.by_name(files.special_tokens_map);
  finder.by_id(files.config);
  for (const SpecialToken& special : kSpecial) {
    const std::int64_t id = vocabulary.*special.member;
    if (id < 0) continue;
    // One token may serve twice; the first use names it.
    TokenType& type = vocabulary.tokens[static_cast<std::size_t>(id)].type;
    if (type != TokenType::bos && type != TokenType::eos) type = special.type;
  }
}

}  // namespace tare::resources
