// The chat template in the section of tokenizer_config.json.
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "formats/mcf/model.hpp"
#include "resources/json_file.hpp"

namespace tare::mcf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kKey = "chat_template";

std::optional<std::string> text_of(const Attachment* file) {
  if (file == nullptr || file->blob.size() > resources::kMaxFileBytes) return std::nullopt;
  const Bytes bytes = file->blob.bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::optional<std::string> with_chat_template(std::string_view tokenizer_config, std::string_view chat_template) {
  if (!is_valid_utf8(chat_template)) return std::nullopt;
  bool empty = false;
  try {
    const resources::Json json = resources::parse_small_json(tokenizer_config);
    const auto found = json.find(kKey);
    if (found != json.end() && found->is_string() && found->text() == chat_template) return std::nullopt;
    if (found != json.end()) {
      Json ordered = Json::parse(tokenizer_config);
      ordered[std::string(kKey)] = chat_template;
      return ordered.dump(2);
    }
    empty = json.empty();
  } catch (const Error&) {
    return std::nullopt;  // told by whoever reads it
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // NaN, which parse_small_json forgives
  }
  // The rest stays as it is spelled.
  const std::size_t brace = tokenizer_config.rfind('}');
  const std::size_t end = tokenizer_config.find_last_not_of(" \t\r\n", brace - 1) + 1;
  std::string text(tokenizer_config.substr(0, end));
  text += empty ? "\n" : ",\n";
  text += "  " + Json(kKey).dump() + ": " + Json(chat_template).dump() + "\n";
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
