#include "chat/reach.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "chat/lexer.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"

namespace tare::chat {
namespace {

constexpr std::string_view kTags[] = {"include", "import", "from", "extends"};
// Filters and functions that lead from a name in a text to an attribute or a file.
constexpr std::string_view kReachingFilters[] = {"attr"};
// Objects that Jinja and the programs around it put next to the variables.
constexpr std::string_view kObjects[] = {
    "lipsum", "cycler", "joiner", "self", "request", "url_for", "get_flashed_messages"};
// Attributes of Python's functions, generators and classes.
constexpr std::string_view kInner[] = {"mro",       "gi_frame", "gi_code",      "cr_frame",
                                       "cr_code",   "ag_frame", "f_globals",    "f_builtins",
                                       "f_locals",  "f_back",   "func_globals", "tb_frame",
                                       "co_consts", "popen",    "_module",      "_TemplateReference__context"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::ranges::find(words, word) != std::end(words);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A name that Python keeps for itself: __class__. Anywhere in the text, because it may be put together.
std::string_view inner_name(std::string_view text) {
  for (std::size_t at = text.find("__"); at != text.npos; at = text.find("__", at + 1)) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    std::size_t end = at + 2;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    if (name.size() > 4 && name.ends_with("__")) return name;
  }
  return {};
}

class Reaches {
 public:
  void add(std::string_view rule, Place place, const std::string& what) {
    for (const Error& error : found_)
      if (std::string_view(error.rule()) == rule) return;
    found_.push_back(Error(ErrorKind::unsupported, rule,
                           fmt::format("line {}, column {}: {}, which no chat template needs; a program that renders "
                                       "it without a sandbox may run other code",
                                       place.line, place.column, what)));
  }
  std::vector<Error> take() { return std::move(found_); }

 private:
  std::vector<Error> found_;
};

// For what is not even tokens: the words, wherever they are.
void look_at_text(std::string_view source, Reaches& reaches) {
  const std::string_view name = inner_name(source);
  if (name.empty()) return;
  const std::string_view before = source.substr(0, static_cast<std::size_t>(name.data() - source.data()));
  const auto line = static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1);
  const auto column = static_cast<std::uint32_t>(before.size() - (before.rfind('\n') + 1) + 1);
  reaches.add("chat.template.attribute", {line, column}, fmt::format("it names {}", quote(name)));
}

void look_at_tokens(const std::vector<TemplateToken>& tokens, Reaches& reaches) {
  bool tag = false;  // inside of {% %} or {{ }}
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const TemplateToken& token = tokens[i];
    const auto after = [&](std::string_view sign) {
      return i > 0 && tokens[i - 1].kind == TokenKind::sign && tokens[i - 1].text == sign;
    };
    const auto before = [&](std::string_view sign) {
      return i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::sign && tokens[i + 1].text == sign;
    };
    tag = token.kind == TokenKind::tag_begin || token.kind == TokenKind::output_begin ||
          (tag && token.kind != TokenKind::tag_end && token.kind != TokenKind::output_end);
    if (!tag) continue;
    if (token.kind == TokenKind::name && i > 0 && tokens[i - 1].kind == TokenKind::tag_begin &&
        is_one_of(token.text, kTags))
      reaches.add("chat.template.include", token.place, fmt::format("the tag '{}' asks for another file", token.text));
    if (token.kind == TokenKind::name && after("|") && is_one_of(token.text, kReachingFilters))
      reaches.add("chat.template.attribute", token.place,
                  fmt::format("the filter '{}' takes an attribute by its name", token.text));
    if (token.kind == TokenKind::name && !after(".") && (before(".") || before("[") || before("(")) &&
        is_one_of(token.text, kObjects) && (token.text != "self" || before(".")))
      reaches.add("chat.template.object", token.place,
                  fmt::format("it uses '{}', an object of the program that renders it", token.text));
    if (token.kind != TokenKind::name && token.kind != TokenKind::string) continue;
    if (const std::string_view name = inner_name(token.text); !name.empty())
      reaches.add("chat.template.attribute", token.place,
                  fmt::format("it names {}, a part of Python's objects", quote(name)));
    else if (is_one_of(token.text, kInner) && (after(".") || after("[")))
      reaches.add("chat.template.attribute", token.place,
                  fmt::format("it takes {}, a part of Python's objects", quote(token.text)));
    else if (token.kind == TokenKind::string && (token.text == "__" || token.text.starts_with("__")) &&
             (before("~") || before("+") || before("%")))
      reaches.add("chat.template.attribute", token.place, "it puts a name together that begins with '__'");
  }
}

// A template of a model and where it is.
struct Found {
  std::string where, text;
};

void add_values(const std::string& where, const Value& value, std::vector<Found>& all) {
  if (value.text() != nullptr) all.push_back({where, *value.text()});
  const List* const several = value.get<List>();
  if (several == nullptr) return;
  for (const Value& one : *several) {
    const Map* const named = one.get<Map>();
    const std::string* const text = named == nullptr ? nullptr : named->get<std::string>("template");
    if (text == nullptr) continue;
    const std::string* const name = named->get<std::string>("name");
    all.push_back({fmt::format("{} \"{}\"", where, name == nullptr ? std::string("?") : quote(*name)), *text});
  }
}

constexpr std::uint64_t kMostTemplate = std::uint64_t{4} << 20;

std::vector<Found> templates_of(const Model& model) {
  std::vector<Found> all;
  for (const auto& [key, value] : model.metadata)
    // "tokenizer.chat_template.NAME" is another template of the same model.
    if (key == "chat_template" || key == "tokenizer.chat_template" || key.starts_with("tokenizer.chat_template."))
      add_values(fmt::format("key {}", quote(key)), value, all);
  for (const Attachment& file : model.attachments) {
    const bool is_template = file.name.ends_with(".jinja");
    const bool is_json = file.name == "tokenizer_config.json" || file.name == "chat_template.json" ||
                         file.name == "processor_config.json";
    if (!(is_template || is_json) || file.blob.size() > (is_json ? resources::kMaxSmallBytes : kMostTemplate)) continue;
    const Bytes bytes = file.blob.bytes(resources::kMaxFileBytes, 1);
    const std::string where = fmt::format("file {}", quote(file.name));
    if (is_template) {
      all.push_back({where, std::string(as_text(bytes))});
      continue;
    }
    try {
      const Map object = resources::parse_small_json(as_text(bytes));
      if (const Value* const value = object.find("chat_template")) add_values(where, *value, all);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::corrupt) throw;  // its own reader reports what is wrong with the file
    }
  }
  return all;
}

}  // namespace

std::vector<Error> reaches_of(std::string_view source) {
  Reaches reaches;
  try {
    look_at_tokens(tokens_of_template(source), reaches);
  } catch (const Error&) {
    look_at_text(source, reaches);
  }
  return reaches.take();
}

std::vector<Error> reaches_of_templates(const Model& model) {
  std::vector<Error> all;
  for (const Found& found : templates_of(model))
    for (Error& error : reaches_of(found.text)) all.push_back(std::move(error.about(found.where)));
  return all;
}

}  // namespace tare::chat
