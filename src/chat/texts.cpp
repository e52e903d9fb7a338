// Texts: Python's str.
#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "chat/characters.hpp"
#include "chat/values.hpp"

namespace tare::chat {
namespace {

Error no_case(World& world, std::uint32_t character) {
  return world.unknown(fmt::format("the case of U+{:04X} is not supported", character));
}

void add_in_case(World& world, std::uint32_t character, Case wanted, std::string& out) {
  if (wanted == Case::upper && character == 0xDF) {
    out += "SS";
    return;
  }
  std::uint32_t made = 0;
  if (!(wanted == Case::upper ? find_upper(character, made) : find_lower(character, made)))
    throw no_case(world, character);
  add_character(out, made);
}

}  // namespace

std::string in_case(World& world, std::string_view text, Case wanted) {
  world.meter.take(text.size());
  std::string out;
  while (!text.empty()) {
    const CharacterAt next = character_at(text);
    add_in_case(world, next.value, wanted, out);
    text.remove_prefix(next.length);
  }
  return out;
}

std::string capitalized(World& world, std::string_view text) {
  if (text.empty()) return {};
  const CharacterAt first = character_at(text);
  std::string out;
  if (first.value == 0xDF) throw no_case(world, first.value);  // its title case is another one
  add_in_case(world, first.value, Case::upper, out);
  return out + in_case(world, text.substr(first.length), Case::lower);
}

std::string replaced(World& world, std::string_view text, std::string_view old, std::string_view by,
                     std::int64_t most) {
  std::string out;
  const auto add = [&](std::string_view part) {
    world.meter.take(part.size());
    out += part;
  };
  std::int64_t left = most < 0 ? -1 : most;
  if (old.empty()) {
    while (left != 0) {
      add(by);
      if (left > 0) --left;
      if (text.empty()) return out;
      const std::size_t length = character_at(text).length;
      add(text.substr(0, length));
      text.remove_prefix(length);
    }
    add(text);
    return out;
  }
  while (left != 0) {
    const std::size_t at = find_text(world.meter, text, old);
    if (at == text.npos) break;
    add(text.substr(0, at));
    add(by);
    text.remove_prefix(at + old.size());
    if (left > 0) --left;
  }
  add(text);
  return out;
}

std::string_view stripped(World& world, std::string_view text, const Any& characters, bool before, bool behind) {
  world.meter.look(text.size());
  if (characters.is(Type::none)) {
    if (before) text = without_spaces_before(text);
    return behind ? without_spaces_behind(text) : text;
  }
  require_defined(world, characters);
  if (!characters.is(Type::text)) throw world.bad(fmt::format("expected characters, found {}", word_for(characters)));
  const auto listed = [&](std::string_view one) {
    world.meter.look(characters.as_text().size());
    for (std::string_view rest = characters.as_text(); !rest.empty();) {
      const std::size_t length = character_at(rest).length;
      if (rest.substr(0, length) == one) return true;
      rest.remove_prefix(length);
    }
    return false;
  };
  while (before && !text.empty()) {
    const std::size_t length = character_at(text).length;
    if (!listed(text.substr(0, length))) break;
    text.remove_prefix(length);
  }
  while (behind && !text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
    if (!listed(text.substr(at))) break;
    text = text.substr(0, at);
  }
  return text;
}

}  // namespace tare::chat
