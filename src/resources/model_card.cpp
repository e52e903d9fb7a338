#include "resources/model_card.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "resources/json_file.hpp"
#include "resources/resources.hpp"
#include "tare/error.hpp"

namespace tare::resources {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kMostFrontMatter = 64 << 10, kMostText = 256;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

// Empty if the text has none.
std::string_view front_matter(std::string_view text) {
  text = text.substr(0, kMostFrontMatter);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(3);
  if (trimmed(take_line(text)) != "---") return {};
  const std::string_view all = text;
  while (!text.empty()) {
    const auto length = static_cast<std::size_t>(text.data() - all.data());
    if (trimmed(take_line(text)) == "---") return all.substr(0, length);
  }
  return {};
}

// Parses one YAML scalar without its quotes and without a trailing comment. Returns nothing for anything but plain
// words.
std::optional<std::string> scalar(std::string_view text) {
  text = trimmed(text);
  if (const char quote = text.empty() ? '\0' : text.front(); quote == '"' || quote == '\'') {
    const std::size_t end = text.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    text = text.substr(1, end - 1);
  } else {
    text = trimmed(text.substr(0, text.find(" #")));
  }
  constexpr std::string_view kSyntax = "[]{}&*!|>%@`\"\\";
  const bool is_plain = std::ranges::all_of(text, [&](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != 127 && kSyntax.find(c) == kSyntax.npos;
  });
  if (text.empty() || text.size() > kMostText || !is_plain || !is_valid_utf8(text)) return std::nullopt;
  return std::string(text);
}

// Parses a text, a list in brackets, or a list on the following lines.
std::vector<std::string> texts(std::string_view rest_of_line, std::string_view following) {
  std::vector<std::string> found;
  const auto add = [&](std::string_view text) {
    if (auto one = scalar(text)) found.push_back(std::move(*one));
  };
  rest_of_line = trimmed(rest_of_line);
  if (rest_of_line.starts_with('[')) {
    rest_of_line = rest_of_line.substr(1, rest_of_line.find(']') - 1);
    while (!rest_of_line.empty()) {
      const std::size_t comma = std::min(rest_of_line.find(','), rest_of_line.size());
      add(rest_of_line.substr(0, comma));
      rest_of_line.remove_prefix(std::min(comma + 1, rest_of_line.size()));
    }
  } else if (!rest_of_line.empty()) {
    add(rest_of_line);
  } else {
    while (!following.empty()) {
      const std::string_view line = trimmed(take_line(following));
      if (!line.starts_with("- ")) break;
      add(line.substr(2));
    }
  }
  return found;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

std::optional<std::string> text_of(const Model& model, std::string_view name) {
  const Attachment* const file = model.attachment(name);
  if (file == nullptr) return std::nullopt;
  try {
    Bytes bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file->blob.size(), kMaxFileBytes)));
    file->blob.read(0, bytes);
    return std::string(as_text(bytes));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    return std::nullopt;
  }
}

std::string name_in_config(std::string_view text) {
  try {
    const Map root = parse_small_json(text);
    const std::string* const name = get<std::string>(root, "_name_or_path");
    if (name != nullptr && is_hub_name(*name)) return *name;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
  }
  return {};
}

}  // namespace

bool is_hub_name(std::string_view name) {
  const auto is_part = [](std::string_view part) {
    const auto is_allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
             c == '.';
    };
    return !part.empty() && part.size() <= 96 && part.front() != '.' && part.back() != '.' &&
           std::ranges::all_of(part, is_allowed);
  };
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_part(name.substr(0, slash)) && is_part(name.substr(slash + 1));
}

Card parse_card(std::string_view readme) {
  Card card;
  std::string license_name;
  for (std::string_view rest = front_matter(readme); !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    if (key == "license") card.license = joined(texts(line.substr(colon + 1), rest));
    if (key == "license_name") license_name = joined(texts(line.substr(colon + 1), rest));
    if (key == "base_model") card.base_model = joined(texts(line.substr(colon + 1), rest));
  }
  if (card.license == "other" && !license_name.empty()) card.license = license_name;
  return card;
}

Card card_of(const Model& model) {
  const auto readme = text_of(model, "README.md");
  Card card = readme ? parse_card(*readme) : Card();
  if (!card.base_model.empty()) return card;
  if (const auto config = text_of(model, "config.json")) card.base_model = name_in_config(*config);
  return card;
}

}  // namespace tare::resources
