#include "resources/json_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <new>

#include "base/lookalike.hpp"
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

// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the library's name for it.
std::string_view words_of(const nlohmann::json::exception& error) {
  std::string_view words = error.what();
  if (const std::size_t end = words.find("] "); end != std::string_view::npos) words.remove_prefix(end + 2);
  return words;
}

// Rather what it is, if that can be told, than where a parser gave up.
Error not_json(std::string_view text, std::string_view trouble) {
  const std::string_view known = lookalike(text);
  return {ErrorKind::corrupt, "json.syntax", known.empty() ? fmt::format("not JSON: {}", trouble) : std::string(known)};
}

// Python writes and reads numbers that JSON has no word for, and some models' config.json has them. None of them is a
// number that we look for: they become null.
std::string without_infinities(std::string_view text) {
  constexpr std::string_view kOddNumbers[] = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  out.reserve(text.size() + text.size() / 3);  // "NaN" grows by one
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto word = in_string ? std::end(kOddNumbers)
                                : std::find_if(std::begin(kOddNumbers), std::end(kOddNumbers),
                                               [&](std::string_view w) { return text.substr(i).starts_with(w); });
    if (word != std::end(kOddNumbers)) {
      out += "null";
      i += word->size();
      continue;
    }
    const std::size_t taken = in_string && c == '\\' && i + 1 < text.size() ? 2 : 1;
    if (c == '"') in_string = !in_string;
    out += text.substr(i, taken);
    i += taken;
  }
  return out;
}

Json parse_any(std::string_view text) {
  if (text.size() > kMaxSmallBytes)
    throw Error(ErrorKind::limit, "json.size",
                fmt::format("{} bytes, more than the {} of the largest such file", text.size(), kMaxSmallBytes));
  // To nlohmann's parser it is the end, whatever follows.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw not_json(text, fmt::format("a zero byte at {}", zero)).at(zero);
  check_depth(text);
  try {
    const bool odd = text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
    return odd ? parse_json_tree(without_infinities(text)) : parse_json_tree(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw not_json(text, words_of(error)).at(error.byte == 0 ? 0 : error.byte - 1);  // it counts from 1
  } catch (const nlohmann::json::exception& error) {
    throw not_json(text, words_of(error));
  }
}

}  // namespace

Json parse_small_json(std::string_view text) {
  Json json = parse_any(text);
  if (!json.is_object()) throw Error(ErrorKind::corrupt, "json.form", "a JSON object was expected");
  return json;
}

Json parse_small_json_list(std::string_view text) {
  Json json = parse_any(text);
  if (!json.is_array()) throw Error(ErrorKind::corrupt, "json.form", "a JSON list was expected");
  return json;
}

BigJson::BigJson(std::string_view text) {
  check_depth(text);
  simdjson::dom::element document;
  if (text.empty()) throw not_json(text, "");
  if (const auto error = parser_.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS) {
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    throw not_json(text, simdjson::error_message(error));
  }
  if (document.get(root_) != simdjson::SUCCESS)
    throw Error(ErrorKind::corrupt, "json.form", "a JSON object was expected");
}

}  // namespace tare::resources
