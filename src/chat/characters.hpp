// Characters as Python knows them. All texts here are valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tare::chat {

struct CharacterAt {
  std::uint32_t value;
  std::size_t length;
};
// The first character of a text that is not empty.
CharacterAt character_at(std::string_view text);
void add_character(std::string& text, std::uint32_t character);
std::size_t count_characters(std::string_view text);
// The text with each byte that is not UTF-8 replaced by U+FFFD.
std::string as_valid(std::string_view text);

bool is_space(std::uint32_t character);      // str.isspace
bool is_printable(std::uint32_t character);  // str.isprintable
// Upper and lower case of one character. False if it has none that is one character, or one that depends on its neighbours.
bool find_upper(std::uint32_t character, std::uint32_t& out);
bool find_lower(std::uint32_t character, std::uint32_t& out);
bool is_cased_upper(std::uint32_t character);
bool is_cased_lower(std::uint32_t character);
bool is_letter(std::uint32_t character);

std::string_view without_spaces_before(std::string_view text);
std::string_view without_spaces_behind(std::string_view text);

}  // namespace tare::chat
