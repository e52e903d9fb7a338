#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tare::cli {
namespace {

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::size_t columns_of(std::uint32_t c) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kNone[] = {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                             {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                             {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  const auto in = [c](const Range& range) { return c >= range.first && c <= range.last; };
  if (std::any_of(std::begin(kNone), std::end(kNone), in)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), in) ? 2 : 1;
}

// Returns the longest prefix of `text` that is at most `columns` wide.
std::string_view head(std::string_view text, std::size_t columns) {
  std::size_t used = 0, end = 0;
  while (end < text.size()) {
    const CodePoint point = first_code_point(text.substr(end));
    const std::size_t width = columns_of(point.value);
    if (used + width > columns) break;
    used += width;
    end += point.length;
  }
  return text.substr(0, end);
}

// Returns the longest suffix of `text` that is at most `columns` wide.
std::string_view tail(std::string_view text, std::size_t columns) {
  std::size_t skip = display_width(text);
  std::size_t begin = 0;
  while (begin < text.size() && skip > columns) {
    const CodePoint point = first_code_point(text.substr(begin));
    skip -= std::min(skip, columns_of(point.value));
    begin += point.length;
  }
  return text.substr(begin);
}

}  // namespace

std::size_t display_width(std::string_view text) {
  if (is_plain_ascii(text)) return text.size();
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = first_code_point(text.substr(i));
    width += columns_of(point.value);
    i += point.length;
  }
  return width;
}

std::string elide_middle(std::string_view text, std::size_t columns, std::string_view mark) {
  if (display_width(text) <= columns) return std::string(text);
  const std::size_t room = columns - std::min(columns, display_width(mark));
  if (room == 0) return std::string(head(text, columns));
  // The end gets the larger half, because it distinguishes the tensors of a layer.
  return fmt::format("{}{}{}", head(text, room / 2), mark, tail(text, room - room / 2));
}

std::string elide_end(std::string_view text, std::size_t columns, std::string_view mark) {
  if (display_width(text) <= columns) return std::string(text);
  return fmt::format("{}{}", head(text, columns - std::min(columns, display_width(mark))), mark);
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    if (line.starts_with(' ')) {
      lines.emplace_back(line);
      line = {};
    } else if (line.empty()) {
      lines.emplace_back();
    }
    std::string current;
    while (!line.empty()) {
      const std::size_t space = line.find(' ');
      const std::string_view word = line.substr(0, space);
      if (!current.empty() && display_width(current) + 1 + display_width(word) > columns) {
        lines.push_back(std::exchange(current, {}));
      }
      if (!current.empty()) current += ' ';
      current += word;
      line = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    }
    if (!current.empty()) lines.push_back(std::move(current));
    if (newline == std::string_view::npos) return lines;
    text.remove_prefix(newline + 1);
  }
}

std::string sentence_case(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string inside_shell_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";  // closes the quotes, and opens them again after the escaped quote
    else
      out += c;
  }
  return out;
}

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '/' || c == ':' || c == ',' || c == '+' || c == '@' || c == '%';
  };
  const bool bare = !text.empty() && std::ranges::all_of(text, is_plain);
  return bare ? std::string(text) : fmt::format("'{}'", inside_shell_quotes(text));
}

}  // namespace tare::cli
