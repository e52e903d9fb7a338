#include "chat/characters.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace tare::chat {

CharacterAt character_at(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return {byte, 1};
  const CodePoint found = first_code_point(text);
  return {found.value, found.length};
}

void add_character(std::string& text, std::uint32_t character) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string as_valid(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  std::string valid;
  while (!text.empty()) {
    const CodePoint found = first_code_point(text);
    if (found.valid)
      valid += text.substr(0, found.length);
    else
      valid += "\xEF\xBF\xBD";
    text.remove_prefix(found.length);
  }
  return valid;
}

bool is_space(std::uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(std::uint32_t c) {
  if (c == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

namespace {

// Characters whose upper case has several characters (Unicode's SpecialCasing), and those with a title case of their own.
bool has_special_upper(std::uint32_t c) {
  return c == 0xDF || c == 0x149 || c == 0x1F0 || c == 0x390 || c == 0x3B0 || c == 0x587 ||
         (c >= 0x1E96 && c <= 0x1E9A) || (c >= 0x1F50 && c <= 0x1FFC) || (c >= 0xFB00 && c <= 0xFB17) || c == 0x345 ||
         (c >= 0x1C4 && c <= 0x1CC) || (c >= 0x1F1 && c <= 0x1F3) || (c >= 0x10D0 && c <= 0x10FF);
}

}  // namespace

bool find_upper(std::uint32_t c, std::uint32_t& out) {
  if (has_special_upper(c)) return false;
  out = static_cast<std::uint32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
  return true;
}

bool find_lower(std::uint32_t c, std::uint32_t& out) {
  if (c == 0x130 || c == 0x3A3) return false;
  out = static_cast<std::uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return true;
}

bool is_cased_upper(std::uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LU;
}
bool is_cased_lower(std::uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL;
}
bool is_letter(std::uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

std::string_view without_spaces_before(std::string_view text) {
  while (!text.empty()) {
    const CharacterAt first = character_at(text);
    if (!is_space(first.value)) break;
    text.remove_prefix(first.length);
  }
  return text;
}

std::string_view without_spaces_behind(std::string_view text) {
  while (!text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!is_space(character_at(text.substr(at)).value)) break;
    text = text.substr(0, at);
  }
  return text;
}

}  // namespace tare::chat
