// The chat template inside tokenizer_config.json.
#include "base/json_writer.hpp"
#include "base/text.hpp"
#include "formats/mcf/model.hpp"
#include "resources/json_file.hpp"
#include "wire/json.hpp"

namespace tare::mcf {
namespace {

constexpr std::string_view kKey = "chat_template";

std::optional<std::string> text_of(const Attachment* file) {
  if (file == nullptr || file->blob.size() > resources::kMaxFileBytes) return std::nullopt;
  const Bytes bytes = file->blob.bytes();
  return std::string(as_text(bytes));
}

// Throws json.syntax for NaN, which parse_small_json accepts: written again it would be null.
std::string with_other_template(std::string_view tokenizer_config, std::string_view chat_template) {
  wire::TreeBounds bounds{.depth = resources::kMaxDepth, .values = tokenizer_config.size()};
  Value config = wire::read_json(tokenizer_config, bounds, {.last_key_counts = true});
  config.get<Map>()->set(kKey, chat_template);
  return write_json(config, {.indent = 2});
}

}  // namespace

std::optional<std::string> with_chat_template(std::string_view tokenizer_config, std::string_view chat_template) {
  if (!is_valid_utf8(chat_template)) return std::nullopt;
  bool is_empty = false;
  try {
    const Map config = resources::parse_small_json(tokenizer_config);
    const Value* const found = config.find(kKey);
    if (found != nullptr && *found == chat_template) return std::nullopt;
    if (found != nullptr) return with_other_template(tokenizer_config, chat_template);
    is_empty = config.empty();
  } catch (const Error&) {
    return std::nullopt;  // other readers of the file report this error
  }
  // Inserts the template before the last brace; the rest keeps its spelling.
  const std::size_t brace = tokenizer_config.rfind('}');
  const std::size_t end = tokenizer_config.find_last_not_of(" \t\r\n", brace - 1) + 1;
  std::string text(tokenizer_config.substr(0, end));
  text += is_empty ? "\n  " : ",\n  ";
  append_json_string(text, kKey);
  text += ": ";
  append_json_string(text, chat_template);
  text += '\n';
  text += tokenizer_config.substr(brace);
  return text;
}

std::optional<std::string> merged_tokenizer_config(const Model& model) {
  const auto chat_template = text_of(model.attachment(kTemplateFile));
  if (!chat_template) return std::nullopt;
  const Attachment* const file = model.attachment(kTokenizerConfig);
  const auto config = file == nullptr ? std::string("{}") : text_of(file);
  return config ? with_chat_template(*config, *chat_template) : std::nullopt;
}

}  // namespace tare::mcf
