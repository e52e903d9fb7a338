// The vocabulary: tokens and merges, searched, one page at a time; and the chat template.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "view/endpoints.hpp"
#include "wire/json.hpp"

namespace tare::view {
namespace {

constexpr std::uint64_t kMostTokens = 500;
constexpr std::size_t kMostTemplate = 256 << 10, kMostSettings = 4 << 20;

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool has_part(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return small(a) == small(b); }) != text.end();
}

// "#123" names a token by its id.
std::optional<std::uint64_t> id_of(std::string_view text) {
  if (!text.starts_with('#')) return std::nullopt;
  std::uint64_t id = 0;
  const auto [end, problem] = std::from_chars(text.data() + 1, text.data() + text.size(), id);
  return problem == std::errc() && end == text.data() + text.size() ? std::optional(id) : std::nullopt;
}

// Sort order of search results: exact matches, then prefixes, then the rest.
int rank_of(std::string_view text, std::string_view wanted) {
  return text == wanted ? 0 : text.starts_with(wanted) ? 1 : 2;
}

std::optional<std::string> attached(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr || file->blob.size() > kMostSettings) return std::nullopt;
  const Bytes bytes = file->blob.bytes(kMostSettings, 1);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return is_valid_utf8(text) ? std::optional(std::move(text)) : std::nullopt;
}

// The text under a key of a small JSON file, or nullopt.
std::optional<std::string> setting(const Model& model, std::string_view file, std::string_view key) {
  const auto text = attached(model, file);
  if (!text) return std::nullopt;
  try {
    wire::TreeBounds bounds;
    const Value value = wire::read_json(*text, bounds);
    const Map* const map = value.get<Map>();
    const Value* const found = map == nullptr ? nullptr : map->find(key);
    if (found != nullptr && found->text() != nullptr) return *found->text();
  } catch (const Error&) {
    return std::nullopt;  // invalid JSON is still shown as an attachment
  }
  return std::nullopt;
}

}  // namespace

void tokens(const Context& context, const Query& query, JsonWriter& json) {
  static constexpr std::string_view kWhat[] = {"tokens", "merges"};
  const Vocabulary& words = context.model(query).model().vocabulary;
  const bool merges = query.choice("what", kWhat) == "merges";
  const std::string_view wanted = query.short_text("search", kMostSearched);
  const std::uint64_t from = query.number("from", 0, 0, UINT32_MAX), count = query.number("count", 100, 0, kMostTokens);
  const auto id = merges ? std::nullopt : id_of(wanted);
  std::optional<TokenType> type;
  if (const std::string_view name = query.text("type"); !name.empty()) {
    type = parse_token_type(name);
    if (!type) throw Error(ErrorKind::usage, "view.request", fmt::format("type: no tokens are called '{}'", name));
  }
  const std::size_t all = merges ? words.merges.size() : words.tokens.size();
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < all; ++i) {
    const std::string_view text = merges ? std::string_view(words.merges[i]) : std::string_view(words.tokens[i].text);
    if (!merges && type && words.tokens[i].type != *type) continue;
    if (id ? *id == i : wanted.empty() || has_part(text, wanted)) found.push_back(static_cast<std::uint32_t>(i));
  }
  if (!wanted.empty() && !id)
    std::stable_sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto text = [&](std::uint32_t i) {
        return merges ? std::string_view(words.merges[i]) : std::string_view(words.tokens[i].text);
      };
      return rank_of(text(a), wanted) < rank_of(text(b), wanted);
    });
  json.open('{').key("kind").text(short_name(words.kind, 60)).key("all").number(std::uint64_t{all});
  json.key("bos").number(words.bos).key("eos").number(words.eos).key("pad").number(words.pad).key("unk").number(
      words.unk);
  json.key("found").number(std::uint64_t{found.size()}).key("from").number(from).key("rows").open('[');
  for (std::uint64_t i = from; i < std::min<std::uint64_t>(from + count, found.size()); ++i) {
    const std::uint32_t place = found[i];
    json.open('{').key("id").number(std::uint64_t{place});
    if (merges) {
      json.key("text").text(short_name(words.merges[place]));
    } else {
      const Token& token = words.tokens[place];
      json.key("text").text(short_name(token.text)).key("type").text(name_of(token.type)).key("score");
      write_element(json, token.score, true);
    }
    json.close('}');
  }
  json.close(']').close('}');
}

void chat_template(const Context& context, const Query& query, JsonWriter& json) {
  const Model& model = context.model(query).model();
  std::string from;
  std::optional<std::string> text;
  for (const std::string_view key : {"tokenizer.chat_template", "chat_template"})
    if (const Value* const value = model.metadata.find(key); !text && value != nullptr && value->text() != nullptr)
      text = *value->text(), from = std::string(key);
  if (!text && (text = attached(model, "chat_template.jinja"))) from = "chat_template.jinja";
  for (const std::string_view file : {"tokenizer_config.json", "chat_template.json"})
    if (!text && (text = setting(model, file, "chat_template"))) from = std::string(file);
  json.open('{').key("from").text(from).key("bytes").number(std::uint64_t{text ? text->size() : 0}).key("text");
  if (!text)
    json.null();
  else
    json.text(beginning_of(*text, kMostTemplate));
  json.close('}');
}

}  // namespace tare::view
