// Methods of texts, lists and dicts. All that Python has are known by name, so that none of them is taken for a key.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/printable.hpp"
#include "chat/characters.hpp"
#include "chat/library.hpp"
#include "chat/values.hpp"

namespace tare::chat {
namespace {

constexpr std::string_view kTextMethods[] = {
    "capitalize",   "casefold",   "center",    "count",       "encode",    "endswith",     "expandtabs",   "find",
    "format",       "format_map", "index",     "isalnum",     "isalpha",   "isascii",      "isdecimal",    "isdigit",
    "isidentifier", "islower",    "isnumeric", "isprintable", "isspace",   "istitle",      "isupper",      "join",
    "ljust",        "lower",      "lstrip",    "maketrans",   "partition", "removeprefix", "removesuffix", "replace",
    "rfind",        "rindex",     "rjust",     "rpartition",  "rsplit",    "rstrip",       "split",        "splitlines",
    "startswith",   "strip",      "swapcase",  "title",       "translate", "upper",        "zfill"};
constexpr std::string_view kListMethods[] = {"append", "clear", "copy",   "count",   "extend", "index",
                                             "insert", "pop",   "remove", "reverse", "sort"};
constexpr std::string_view kTupleMethods[] = {"count", "index"};
constexpr std::string_view kDictMethods[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                             "pop",   "popitem", "setdefault", "update", "values"};

std::span<const std::string_view> methods_of(const Any& value) {
  switch (value.type) {
    case Type::text: return kTextMethods;
    case Type::list: return kListMethods;
    case Type::tuple: return kTupleMethods;
    case Type::dict: return kDictMethods;
    default: return {};
  }
}

Any or_none(const std::optional<Any>& value) { return value ? *value : none_value(); }

std::string_view text_argument(World& world, std::string_view method, const std::optional<Any>& value) {
  if (!value) throw world.bad(fmt::format("{}() needs an argument", method));
  require_defined(world, *value);
  if (!value->is(Type::text)) throw world.bad(fmt::format("{}() expects a text, found {}", method, word_for(*value)));
  return value->as_text();
}
std::int64_t whole_argument(World& world, std::string_view method, const std::optional<Any>& value,
                            std::int64_t usual) {
  if (!value) return usual;
  require_defined(world, *value);
  if (value->is(Type::boolean)) return std::int64_t{value->boolean};
  if (!value->is(Type::integer))
    throw world.bad(fmt::format("{}() expects a whole number, found {}", method, word_for(*value)));
  return value->integer;
}

// ---- texts ----

bool starts_or_ends(World& world, std::string_view method, std::string_view text, const std::optional<Any>& with) {
  const Meter::Level level(world.meter);  // tuples may be inside of each other
  world.meter.step();
  if (with && with->is(Type::tuple))
    return std::ranges::any_of(with->items->all,
                               [&](const Any& one) { return starts_or_ends(world, method, text, one); });
  const std::string_view part = text_argument(world, method, with);
  world.meter.look(part.size());
  return method == "startswith" ? text.starts_with(part) : text.ends_with(part);
}

// At blanks, as split() without a separator does.
std::vector<Any> words_of(World& world, std::string_view text, std::int64_t most) {
  world.meter.look(text.size());
  std::vector<Any> all;
  text = without_spaces_before(text);
  while (!text.empty()) {
    if (most >= 0 && static_cast<std::int64_t>(all.size()) == most) {
      all.push_back(world.text(std::string(without_spaces_behind(text))));
      return all;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      const CharacterAt next = character_at(text.substr(end));
      if (is_space(next.value)) break;
      end += next.length;
    }
    all.push_back(world.text(std::string(text.substr(0, end))));
    text = without_spaces_before(text.substr(end));
  }
  return all;
}

std::vector<Any> split(World& world, std::string_view text, const Any& separator, std::int64_t most, bool behind) {
  if (separator.is(Type::none)) {
    if (behind && most >= 0) throw world.unknown("rsplit() with a number but without a separator is not supported");
    return words_of(world, text, most);
  }
  const std::string_view by = text_argument(world, "split", separator);
  if (by.empty()) throw world.bad("split() by an empty text");
  std::vector<std::string_view> parts;
  if (!behind || most < 0) {
    for (;;) {
      const std::size_t at =
          most >= 0 && static_cast<std::int64_t>(parts.size()) == most ? text.npos : find_text(world.meter, text, by);
      if (at == text.npos) break;
      world.meter.take(sizeof(std::string_view));
      parts.push_back(text.substr(0, at));
      text.remove_prefix(at + by.size());
    }
    parts.push_back(text);
  } else {
    while (static_cast<std::int64_t>(parts.size()) != most) {
      world.meter.look(text.size() * (1 + by.size() / 16));
      const std::size_t at = text.rfind(by);
      if (at == text.npos) break;
      world.meter.take(sizeof(std::string_view));
      parts.push_back(text.substr(at + by.size()));
      text = text.substr(0, at);
    }
    parts.push_back(text);
    std::ranges::reverse(parts);
  }
  std::vector<Any> all;
  for (const std::string_view part : parts) all.push_back(world.text(std::string(part)));
  return all;
}

std::vector<Any> lines_of(World& world, std::string_view text, bool with_ends) {
  const auto ends_line = [](std::uint32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
  };
  std::vector<Any> all;
  std::size_t begin = 0, at = 0;
  while (at < text.size()) {
    const CharacterAt next = character_at(text.substr(at));
    if (!ends_line(next.value)) {
      at += next.length;
      continue;
    }
    std::size_t after = at + next.length;
    if (next.value == '\r' && after < text.size() && text[after] == '\n') ++after;
    all.push_back(world.text(std::string(text.substr(begin, (with_ends ? after : at) - begin))));
    begin = at = after;
  }
  if (begin < text.size()) all.push_back(world.text(std::string(text.substr(begin))));
  return all;
}

std::string in_title_case(World& world, std::string_view text) {
  world.meter.take(text.size());
  std::string out;
  bool in_word = false;
  while (!text.empty()) {
    const CharacterAt next = character_at(text);
    std::uint32_t made = 0;
    if (next.value == 0xDF || !(in_word ? find_lower(next.value, made) : find_upper(next.value, made)))
      throw world.unknown(fmt::format("the case of U+{:04X} is not supported", next.value));
    add_character(out, made);
    in_word = is_cased_upper(next.value) || is_cased_lower(next.value);
    text.remove_prefix(next.length);
  }
  return out;
}

std::size_t characters_before(World& world, std::string_view text, std::size_t at) {
  world.meter.look(at);
  return count_characters(text.substr(0, at));
}

Any text_place(World& world, std::string_view name, std::string_view text, std::string_view what) {
  const bool last = name.starts_with('r');
  if (last) world.meter.look(text.size() * (1 + what.size() / 16));
  const std::size_t at = last ? text.rfind(what) : find_text(world.meter, text, what);
  if (at != text.npos) return integer_value(static_cast<std::int64_t>(characters_before(world, text, at)));
  if (name.ends_with("index")) throw world.bad("index() of a text that is not in it");
  return integer_value(-1);
}

std::int64_t times_in(World& world, std::string_view text, std::string_view what) {
  if (what.empty()) {
    world.meter.look(text.size());
    return static_cast<std::int64_t>(count_characters(text)) + 1;
  }
  std::int64_t count = 0;
  for (std::size_t at = find_text(world.meter, text, what); at != text.npos;
       at = find_text(world.meter, text, what, at + what.size()))
    ++count;
  return count;
}

bool all_characters(World& world, std::string_view text, bool (*holds)(std::uint32_t)) {
  world.meter.look(text.size());
  if (text.empty()) return false;
  for (; !text.empty(); text.remove_prefix(character_at(text).length))
    if (!holds(character_at(text).value)) return false;
  return true;
}

Any joined(World& world, std::string_view by, const Any& items) {
  std::string out;
  bool first = true;
  for (const Any& one : items_of(world, items)) {
    if (!one.is(Type::text)) throw world.bad(fmt::format("join() expects texts, found {}", word_for(one)));
    world.meter.take(one.as_text().size() + by.size());
    if (!first) out += by;
    first = false;
    out += one.as_text();
  }
  return world.text(std::move(out));
}

// "{} {0} {name}".format(...), without formats of numbers and the like.
Any formatted(World& world, std::string_view text, const Given& given) {
  std::string out;
  std::size_t next = 0;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    if (text.starts_with(c)) {
      out += c;
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = text.find('}');
    if (c == '}' || end == text.npos) throw world.bad("format() found a single brace");
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(end + 1);
    world.meter.step(1 + given.names.size() / 8);
    const auto named = std::ranges::find_if(given.names, [&](const auto& one) { return one.first == field; });
    if (named != given.names.end()) {
      add_shown(world, named->second, out);
      continue;
    }
    std::size_t place = next;
    if (field.empty())
      ++next;
    else if (std::from_chars(field.data(), field.data() + field.size(), place).ptr != field.data() + field.size())
      throw world.unknown(fmt::format("format() with '{}' is not supported", quote(field)));
    if (place >= given.places.size()) throw world.bad("format() has too few arguments");
    add_shown(world, given.places[place], out);
  }
  return world.text(std::move(out));
}

bool is_ascii_only(World& world, std::string_view text) {
  world.meter.look(text.size());
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

Any call_text(World& world, std::string_view name, std::string_view text, const Given& given) {
  const auto take = [&](std::initializer_list<std::string_view> names) {
    return parameters(world, name, given, names);
  };
  const auto made = [&](std::string_view result) { return world.text(std::string(result)); };
  if (name == "strip" || name == "lstrip" || name == "rstrip")
    return made(stripped(world, text, or_none(take({"chars"})[0]), name != "rstrip", name != "lstrip"));
  if (name == "split" || name == "rsplit") {
    const auto all = take({"sep", "maxsplit"});
    return world.list(split(world, text, or_none(all[0]), whole_argument(world, name, all[1], -1), name == "rsplit"));
  }
  if (name == "splitlines") {
    const auto all = take({"keepends"});
    return world.list(lines_of(world, text, all[0] && truth(*all[0])));
  }
  if (name == "startswith" || name == "endswith")
    return boolean_value(starts_or_ends(world, name, text, take({"prefix"})[0]));
  if (name == "replace") {
    const auto all = take({"old", "new", "count"});
    const std::string_view old = text_argument(world, name, all[0]), by = text_argument(world, name, all[1]);
    return world.text(replaced(world, text, old, by, whole_argument(world, name, all[2], -1)));
  }
  if (name == "removeprefix" || name == "removesuffix") {
    const std::string_view part = text_argument(world, name, take({"text"})[0]);
    if (name == "removeprefix") return made(text.starts_with(part) ? text.substr(part.size()) : text);
    return made(text.ends_with(part) ? text.substr(0, text.size() - part.size()) : text);
  }
  if (name == "find" || name == "rfind" || name == "index" || name == "rindex")
    return text_place(world, name, text, text_argument(world, name, take({"sub"})[0]));
  if (name == "count") return integer_value(times_in(world, text, text_argument(world, name, take({"sub"})[0])));
  if (name == "join") {
    const auto all = take({"iterable"});
    if (!all[0]) throw world.bad("join() needs an argument");
    return joined(world, text, *all[0]);
  }
  if (name == "format") return formatted(world, text, given);
  if (name == "partition" || name == "rpartition") {
    const std::string_view by = text_argument(world, name, take({"sep"})[0]);
    if (by.empty()) throw world.bad("partition() by an empty text");
    world.meter.look(text.size() * (1 + by.size() / 16));
    const std::size_t at = name == "partition" ? text.find(by) : text.rfind(by);
    if (at == text.npos)
      return world.list(name == "partition" ? std::vector<Any>{made(text), made(""), made("")}
                                            : std::vector<Any>{made(""), made(""), made(text)},
                        Type::tuple);
    return world.list({made(text.substr(0, at)), made(by), made(text.substr(at + by.size()))}, Type::tuple);
  }
  constexpr std::string_view kPlain[] = {"lower",   "upper",   "title",   "capitalize", "isspace",
                                         "isdigit", "isalpha", "isupper", "islower",    "isascii"};
  if (std::ranges::find(kPlain, name) == std::end(kPlain))
    throw world.unknown(fmt::format("the method {}() of a text is not supported", name));
  take({});
  if (name == "lower") return world.text(in_case(world, text, Case::lower));
  if (name == "upper") return world.text(in_case(world, text, Case::upper));
  if (name == "title") return world.text(in_title_case(world, text));
  if (name == "capitalize") return world.text(capitalized(world, text));
  if (name == "isspace") return boolean_value(all_characters(world, text, is_space));
  if (name == "isalpha") return boolean_value(all_characters(world, text, is_letter));
  if (name == "isascii") return boolean_value(is_ascii_only(world, text));
  if (!is_ascii_only(world, text))
    throw world.unknown(fmt::format("the method {}() is supported for ASCII only", name));
  if (name == "isdigit")
    return boolean_value(all_characters(world, text, [](std::uint32_t c) { return c >= '0' && c <= '9'; }));
  const bool any = std::ranges::any_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  const char first = name == "isupper" ? 'a' : 'A';
  const bool other = std::ranges::any_of(text, [&](char c) { return c >= first && c <= first + 25; });
  return boolean_value(any && !other);
}

// ---- lists and dicts ----

Any call_items(World& world, std::string_view name, const Any& self, const Given& given) {
  const std::vector<Any>& all = self.items->all;
  if (name == "copy") return self;
  if (name != "index" && name != "count")
    throw world.unknown(fmt::format("{}() would change a list, which templates may not", name));
  const auto wanted = parameters(world, name, given, {"value"})[0];
  if (!wanted) throw world.bad(fmt::format("{}() needs an argument", name));
  std::int64_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!are_equal(world, all[i], *wanted)) continue;
    if (name == "index") return integer_value(static_cast<std::int64_t>(i));
    ++count;
  }
  if (name == "index") throw world.bad("index() of a value that is not in the list");
  return integer_value(count);
}

Any call_dict(World& world, std::string_view name, const Any& self, const Given& given) {
  const Dict& dict = *self.dict;
  if (name == "get") {
    const auto all = parameters(world, name, given, {"key", "default"});
    if (!all[0]) throw world.bad("get() needs an argument");
    return contains(world, self, *all[0]) ? item_of(world, self, *all[0]) : or_none(all[1]);
  }
  if (name != "items" && name != "keys" && name != "values" && name != "copy")
    throw world.unknown(fmt::format("{}() would change a dict, which templates may not", name));
  parameters(world, name, given, {});
  if (name == "copy") return self;
  std::vector<Any> all;
  for (const auto& [key, value] : dict.entries)
    all.push_back(name == "keys" ? key : name == "values" ? value : world.list({key, value}, Type::tuple));
  return world.list(std::move(all), Type::view);
}

}  // namespace

bool has_method(const Any& value, std::string_view name) {
  const std::span<const std::string_view> all = methods_of(value);
  return std::ranges::find(all, name) != all.end();
}

Any call_method(World& world, std::string_view name, const Any& self, const Given& given) {
  if (self.is(Type::text)) return call_text(world, name, self.as_text(), given);
  if (self.is(Type::dict)) return call_dict(world, name, self, given);
  return call_items(world, name, self, given);
}

}  // namespace tare::chat
