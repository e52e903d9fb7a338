#include "resources/json_file.hpp"

#include <fmt/format.h>

#include "tare/error.hpp"

namespace tare::resources {
namespace {

// Before a parser sees it: nesting costs some parsers stack, and destructors too.
void check_depth(std::string_view text) {
  unsigned depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth)
        throw Error(ErrorKind::corrupt, "json.depth", fmt::format("nested more than {} deep", kMaxDepth)).at(i);
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
}

}  // namespace

nlohmann::json parse_small_json(std::string_view text) {
  if (text.size() > kMaxSmallBytes)
    throw Error(ErrorKind::limit, "json.size",
                fmt::format("{} bytes, more than the {} of the largest such file", text.size(), kMaxSmallBytes));
  check_depth(text);
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorKind::corrupt, "json.syntax", fmt::format("not JSON: {}", error.what())).at(error.byte);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::corrupt, "json.syntax", fmt::format("not JSON: {}", error.what()));
  }
  if (!json.is_object()) throw Error(ErrorKind::corrupt, "json.form", "a JSON object was expected");
  return json;
}

BigJson::BigJson(std::string_view text) {
  check_depth(text);
  simdjson::dom::element document;
  if (const auto error = parser_.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS)
    throw Error(ErrorKind::corrupt, "json.syntax", fmt::format("not JSON: {}", simdjson::error_message(error)));
  if (document.get(root_) != simdjson::SUCCESS)
    throw Error(ErrorKind::corrupt, "json.form", "a JSON object was expected");
}

}  // namespace tare::resources
