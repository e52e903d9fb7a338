#include "base/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "tare/value.hpp"

namespace tare {
namespace {

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// Appends one code point of a text that may have several lines, escaped if necessary.
void append_spelled(std::string& out, std::string_view bytes, const CodePoint& point) {
  if (point.valid && !steers_terminal(point.value)) {
    out += bytes;
    return;
  }
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
}

// The length of the sequence that this byte begins; 1 if it begins none.
std::size_t promised_length(unsigned char lead) {
  return lead < 0xC2 || lead > 0xF4 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
}

// Whether more bytes could complete the beginning of a sequence, or a CR.
bool may_go_on(std::string_view rest) {
  const auto lead = static_cast<unsigned char>(rest[0]);
  if (lead == '\r') return rest.size() == 1;
  const bool continued =
      std::all_of(rest.begin() + 1, rest.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
  return rest.size() < promised_length(lead) && continued;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t length = promised_length(lead);
  if (length == 1 || length > text.size()) return {lead, 1, false};
  std::uint32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {lead, 1, false};
  return {value, length, true};
}

bool steers_terminal(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  // Unicode's Bidi_Control, the two separators, and the deprecated controls that shape or mirror text.
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x206F);
}

namespace {

// Escapes backslashes, TAB, LF, CR, bytes that are not UTF-8, and the characters for which `is_spelled` is true.
template <typename IsSpelled>
std::string one_line_but(std::string_view name, const IsSpelled& is_spelled) {
  std::string out;
  out.reserve(name.size());
  for (std::size_t i = 0; i < name.size();) {
    const CodePoint point = first_code_point(name.substr(i));
    if (name[i] == '\\')
      out += "\\\\";
    else if (name[i] == '\t')
      out += "\\t";
    else if (name[i] == '\n')
      out += "\\n";
    else if (name[i] == '\r')
      out += "\\r";
    else if (point.valid && !is_spelled(point.value))
      out += name.substr(i, point.length);
    else
      for (const char byte : name.substr(i, point.length))
        fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned char>(byte));
    i += point.length;
  }
  return out;
}

}  // namespace

std::string one_line(std::string_view name) {
  return one_line_but(name, [](std::uint32_t) { return false; });
}

std::string escape_name(std::string_view name) { return one_line_but(name, steers_terminal); }

std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  // At most three bytes continue a code point.
  for (int i = 0; i < 3 && most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80; ++i) --most;
  return text.substr(0, most);
}

std::string quote(std::string_view text) {
  const std::string_view shown = beginning(text, kQuotedBytes);
  std::string out = escape_name(shown);
  if (shown.size() < text.size()) out += fmt::format("..., {} bytes in all", count_text(text.size()));
  return out;
}

std::string and_more(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format(" and {} more", all - shown) : std::string();
}

std::string listed(std::span<const std::string> texts, std::size_t most) {
  return fmt::format("{}{}", fmt::join(texts.first(std::min(texts.size(), most)), ", "), and_more(texts.size(), most));
}

std::string listed_names(std::span<const std::string> names, std::size_t most) {
  std::vector<std::string> quoted;
  for (const std::string& name : names.first(std::min(names.size(), most))) quoted.push_back(quote(name));
  return listed(quoted, most) + and_more(names.size(), most);
}

std::string printable(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.value == '\n' || point.value == '\t')
      out += point.value == '\n' ? "\\n" : "\\t";
    else
      append_spelled(out, text.substr(0, point.length), point);
    text.remove_prefix(point.length);
  }
  return out;
}

std::string printable_json(std::string_view json) {
  // Only DEL and above need a check: JSON strings contain no control characters below it.
  const auto odd = [](char c) { return static_cast<unsigned char>(c) >= 0x7F; };
  std::string out;
  while (!json.empty()) {
    const auto plain = static_cast<std::size_t>(std::find_if(json.begin(), json.end(), odd) - json.begin());
    out += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) break;
    const CodePoint point = first_code_point(json);
    if (point.valid && !steers_terminal(point.value))
      out += json.substr(0, point.length);
    else  // bytes that are not UTF-8 are not valid JSON: U+FFFD replaces them
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", point.valid ? point.value : 0xFFFD);
    json.remove_prefix(point.length);
  }
  return out;
}

std::string TerminalFilter::filter(std::string_view piece) {
  waiting_ += piece;
  return drain(false);
}

std::string TerminalFilter::finish() { return drain(true); }

std::string TerminalFilter::drain(bool last) {
  const std::string all = std::exchange(waiting_, {});
  std::string out;
  for (std::string_view text = all; !text.empty();) {
    if (!last && may_go_on(text)) {
      waiting_ = text;
      break;
    }
    const CodePoint point = first_code_point(text);
    const bool line_end = point.value == '\r' && text.substr(0, 2) == "\r\n";
    if (point.value == '\n' || point.value == '\t' || line_end)
      out += static_cast<char>(point.value);
    else
      append_spelled(out, text.substr(0, point.length), point);
    text.remove_prefix(point.length);
  }
  return out;
}

}  // namespace tare
