// Jinja's filters, with transformers' tojson.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/printable.hpp"
#include "chat/characters.hpp"
#include "chat/library.hpp"

namespace tare::chat {

std::vector<std::optional<Any>> parameters(World& world, std::string_view function, const Given& given,
                                           std::initializer_list<std::string_view> names) {
  std::vector<std::optional<Any>> all(names.size());
  if (given.places.size() > names.size())
    throw world.bad(
        fmt::format("{} takes at most {} arguments, found {}", function, names.size(), given.places.size()));
  for (std::size_t i = 0; i < given.places.size(); ++i) all[i] = given.places[i];
  for (const auto& [name, value] : given.names) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw world.unknown(fmt::format("{} with the argument '{}' is not supported", function, quote(name)));
    std::optional<Any>& place = all[static_cast<std::size_t>(found - names.begin())];
    if (place) throw world.bad(fmt::format("{} got the argument '{}' twice", function, name));
    place = value;
  }
  return all;
}

namespace {

using Given_ = const Given&;

bool flag(const std::optional<Any>& value, bool usual = false) { return value ? truth(*value) : usual; }

std::int64_t whole_number(World& world, std::string_view function, const std::optional<Any>& value,
                          std::int64_t usual) {
  if (!value) return usual;
  require_defined(world, *value);
  if (!value->is(Type::integer))
    throw world.bad(fmt::format("{} expects a whole number, found {}", function, word_for(*value)));
  return value->integer;
}

// The value as a text, as Jinja's soft_str makes it.
std::string_view text_for(World& world, const Any& value) {
  if (value.is(Type::text)) return value.as_text();
  return world.text(shown(world, value)).as_text();
}

// For case-insensitive comparisons.
Any without_case(World& world, const Any& value) {
  return value.is(Type::text) ? world.text(in_case(world, value.as_text(), Case::lower)) : value;
}

// "a.b.0" of a value.
Any path_of(World& world, Any value, const Any& path, const std::optional<Any>& usual = {}) {
  if (!path.is(Type::text)) {
    value = item_of(world, value, path);
    return usual && value.is(Type::undefined) ? *usual : value;
  }
  std::string_view rest = path.as_text();
  for (;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool whole = !part.empty() && part[0] != '-' && problem == std::errc() && end == part.data() + part.size();
    value = item_of(world, value, whole ? integer_value(number) : world.text(std::string(part)));
    if (usual && value.is(Type::undefined)) value = *usual;
    if (dot == rest.size()) return value;
    rest.remove_prefix(dot + 1);
  }
}

// ---- texts ----

Any filter_trim(World& world, const Any& value, Given_ given) {
  const auto characters = parameters(world, "trim", given, {"chars"})[0];
  return world.text(
      std::string(stripped(world, text_for(world, value), characters ? *characters : none_value(), true, true)));
}
Any filter_upper(World& world, const Any& value, Given_ given) {
  parameters(world, "upper", given, {});
  return world.text(in_case(world, text_for(world, value), Case::upper));
}
Any filter_lower(World& world, const Any& value, Given_ given) {
  parameters(world, "lower", given, {});
  return world.text(in_case(world, text_for(world, value), Case::lower));
}
Any filter_capitalize(World& world, const Any& value, Given_ given) {
  parameters(world, "capitalize", given, {});
  return world.text(capitalized(world, text_for(world, value)));
}
// Each word, after blanks, hyphens and opening brackets, is capitalized.
Any filter_title(World& world, const Any& value, Given_ given) {
  parameters(world, "title", given, {});
  std::string_view text = text_for(world, value);
  std::string made;
  while (!text.empty()) {
    std::size_t end = 0;
    bool first = false;
    while (end < text.size()) {
      const CharacterAt next = character_at(text.substr(end));
      const bool between = next.value == '-' || next.value == '(' || next.value == '{' || next.value == '[' ||
                           next.value == '<' || is_space(next.value);
      if (end == 0) first = between;
      if (between != first) break;
      end += next.length;
    }
    world.meter.step(4);
    made += first ? std::string(text.substr(0, end)) : capitalized(world, text.substr(0, end));
    text.remove_prefix(end);
  }
  return world.text(std::move(made));
}
Any filter_replace(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "replace", given, {"old", "new", "count"});
  if (!all[0] || !all[1]) throw world.bad("replace needs two arguments");
  const bool counted = all[2] && !all[2]->is(Type::none);
  return world.text(replaced(world, text_for(world, value), text_for(world, *all[0]), text_for(world, *all[1]),
                             counted ? whole_number(world, "replace", all[2], -1) : -1));
}
Any filter_string(World& world, const Any& value, Given_ given) {
  parameters(world, "string", given, {});
  return world.text(std::string(text_for(world, value)));
}
Any filter_safe(World& world, const Any& value, Given_ given) {
  parameters(world, "safe", given, {});
  Any made = value.is(Type::text) ? value : world.text(shown(world, value));
  made.safe = true;
  return made;
}

Any filter_indent(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "indent", given, {"width", "first", "blank"});
  const std::string by =
      all[0] && all[0]->is(Type::text)
          ? std::string(all[0]->as_text())
          : std::string(
                static_cast<std::size_t>(std::clamp<std::int64_t>(whole_number(world, "indent", all[0], 4), 0, 1000)),
                ' ');
  if (!value.is(Type::text)) throw world.bad(fmt::format("indent expects a text, found {}", word_for(value)));
  const Any text = world.text(std::string(value.as_text()) + "\n");
  const Any lines = call_method(world, "splitlines", text, {});
  std::string made;
  bool first = true;
  for (const Any& line : lines.items->all) {
    const bool indents = first ? flag(all[1]) : (flag(all[2]) || !line.as_text().empty());
    world.meter.take(by.size() + line.as_text().size() + 1);
    if (!first) made += '\n';
    if (indents) made += by;
    made += line.as_text();
    first = false;
  }
  return world.text(std::move(made));
}

Any filter_tojson(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "tojson", given, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.ascii = flag(all[0]), .sorted = flag(all[3])};
  if (all[1] && !all[1]->is(Type::none)) {
    if (all[1]->is(Type::text))
      style.indent = std::string(all[1]->as_text());
    else
      style.indent = std::string(
          static_cast<std::size_t>(std::clamp<std::int64_t>(whole_number(world, "tojson", all[1], 0), 0, 100)), ' ');
  }
  if (all[2] && !all[2]->is(Type::none)) {
    if (!all[2]->is_sequence() || all[2]->items->all.size() != 2 || !all[2]->items->all[0].is(Type::text) ||
        !all[2]->items->all[1].is(Type::text))
      throw world.bad("the separators of tojson are two texts");
    style.between = std::string(all[2]->items->all[0].as_text());
    style.after_key = std::string(all[2]->items->all[1].as_text());
  }
  return world.text(json_of(world, value, style));
}

// ---- numbers ----

std::string_view number_text_of(World& world, const Any& value) {
  world.meter.look(value.as_text().size());
  std::string_view text = without_spaces_behind(without_spaces_before(value.as_text()));
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}
std::optional<double> parsed_real(World& world, const Any& value) {
  const std::string_view text = number_text_of(world, value);
  if (text.find('_') != text.npos) throw world.unknown("numbers with underscores are not supported");
  double made = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), made);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (problem != std::errc()) throw world.unknown("a number is too large or too small");
  return made;
}

Any whole_from(World& world, double value) {
  if (!std::isfinite(value)) throw world.bad("a number is not finite");
  if (!(std::abs(value) < 9.2e18)) throw world.unknown("numbers of more than 64 bits are not supported");
  return integer_value(static_cast<std::int64_t>(std::trunc(value)));
}

Any filter_int(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "int", given, {"default", "base"});
  require_defined(world, value);
  if (all[1] && !are_equal(world, *all[1], integer_value(10)))
    throw world.unknown("int with another base is not supported");
  const Any usual = all[0] ? *all[0] : integer_value(0);
  if (value.is(Type::boolean)) return integer_value(value.boolean ? 1 : 0);
  if (value.is(Type::integer)) return value;
  if (value.is(Type::real)) return std::isnan(value.real) ? usual : whole_from(world, value.real);
  if (!value.is(Type::text)) return usual;
  const std::string_view text = number_text_of(world, value);
  std::int64_t made = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), made);
  if (!text.empty() && problem == std::errc() && end == text.data() + text.size()) return integer_value(made);
  const auto real = parsed_real(world, value);
  if (!real || std::isnan(*real)) return usual;
  return whole_from(world, *real);
}
Any filter_float(World& world, const Any& value, Given_ given) {
  const auto usual = parameters(world, "float", given, {"default"})[0];
  require_defined(world, value);
  if (value.is(Type::real)) return value;
  if (value.is(Type::boolean)) return real_value(value.boolean ? 1 : 0);
  if (value.is(Type::integer)) return real_value(static_cast<double>(value.integer));
  const auto real = value.is(Type::text) ? parsed_real(world, value) : std::nullopt;
  return real ? real_value(*real) : usual ? *usual : real_value(0);
}
Any filter_abs(World& world, const Any& value, Given_ given) {
  parameters(world, "abs", given, {});
  require_defined(world, value);
  if (value.is(Type::real)) return real_value(std::abs(value.real));
  if (!value.is_number()) throw world.bad(fmt::format("{} has no absolute value", word_for(value)));
  const std::int64_t number = value.is(Type::boolean) ? std::int64_t{value.boolean} : value.integer;
  return number < 0 ? negated(world, value, true) : integer_value(number);
}
Any filter_round(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "round", given, {"precision", "method"});
  require_defined(world, value);
  if (all[1] || whole_number(world, "round", all[0], 0) != 0)
    throw world.unknown("round with arguments is not supported");
  if (!value.is_number()) throw world.bad(fmt::format("{} cannot be rounded", word_for(value)));
  if (!value.is(Type::real)) return negated(world, value, false);
  return real_value(std::nearbyint(value.real));  // ties to even, as in Python
}

// ---- lists ----

Any filter_length(World& world, const Any& value, Given_ given) {
  parameters(world, "length", given, {});
  return integer_value(static_cast<std::int64_t>(length_of(world, value)));
}
Any filter_list(World& world, const Any& value, Given_ given) {
  parameters(world, "list", given, {});
  return world.list(items_of(world, value));
}
Any filter_first(World& world, const Any& value, Given_ given) {
  parameters(world, "first", given, {});
  if (value.is(Type::stream))
    throw world.unknown("first of the result of a filter that is not a list is not supported");
  const std::vector<Any> all = items_of(world, value);
  return all.empty() ? world.undefined("the first item") : all.front();
}
Any filter_last(World& world, const Any& value, Given_ given) {
  parameters(world, "last", given, {});
  if (value.is(Type::stream)) throw world.bad(fmt::format("{} has no last item", word_for(value)));
  const std::vector<Any> all = items_of(world, value);
  return all.empty() ? world.undefined("the last item") : all.back();
}
Any filter_reverse(World& world, const Any& value, Given_ given) {
  parameters(world, "reverse", given, {});
  std::vector<Any> all = items_of(world, value);
  std::ranges::reverse(all);
  if (value.is(Type::stream)) return world.list(std::move(all));
  if (!value.is(Type::text)) return world.stream(std::move(all));
  std::string made;
  for (const Any& one : all) made += one.as_text();
  return world.text(std::move(made));
}
Any filter_join(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "join", given, {"d", "attribute"});
  const std::string_view by = all[0] ? text_for(world, *all[0]) : std::string_view();
  std::string made;
  bool first = true;
  for (const Any& one : items_of(world, value)) {
    const Any item = all[1] && !all[1]->is(Type::none) ? path_of(world, one, *all[1]) : one;
    if (!first) {
      world.meter.take(by.size());
      made += by;
    }
    first = false;
    add_shown(world, item, made);
  }
  return world.text(std::move(made));
}
Any filter_items(World& world, const Any& value, Given_ given) {
  parameters(world, "items", given, {});
  if (value.is(Type::undefined)) return world.stream({});
  if (!value.is(Type::dict)) throw world.bad(fmt::format("items expects a dict, found {}", word_for(value)));
  return world.stream(call_method(world, "items", value, {}).items->all);
}

// Sorts by a key of each item. `equal_first`: keys that are equal need no order.
std::vector<Any> sorted_by(World& world, std::vector<Any> items, bool reverse, bool equal_first,
                           const std::function<Any(const Any&)>& key_of) {
  std::vector<std::pair<Any, Any>> keyed;
  for (const Any& one : items) keyed.emplace_back(key_of(one), one);
  world.meter.take(keyed.size() * 2 * sizeof(Any));
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    if (equal_first && are_equal(world, a.first, b.first)) return false;
    return reverse ? order_of(world, b.first, a.first, "<") < 0 : order_of(world, a.first, b.first, "<") < 0;
  });
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
  return items;
}

Any key_with_case(World& world, const Any& one, const std::optional<Any>& path, bool case_sensitive) {
  const Any value = path && !path->is(Type::none) ? path_of(world, one, *path) : one;
  return case_sensitive ? value : without_case(world, value);
}

Any filter_sort(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "sort", given, {"reverse", "case_sensitive", "attribute"});
  if (all[2] && all[2]->is(Type::text) && all[2]->as_text().find(',') != std::string_view::npos)
    throw world.unknown("sort by several attributes is not supported");
  return world.list(sorted_by(world, items_of(world, value), flag(all[0]), true,
                              [&](const Any& one) { return key_with_case(world, one, all[2], flag(all[1])); }));
}
Any filter_dictsort(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "dictsort", given, {"case_sensitive", "by", "reverse"});
  require_defined(world, value);
  if (!value.is(Type::dict)) throw world.bad(fmt::format("dictsort expects a dict, found {}", word_for(value)));
  const bool by_value = all[1] && are_equal(world, *all[1], world.text("value"));
  if (all[1] && !by_value && !are_equal(world, *all[1], world.text("key")))
    throw world.bad("dictsort sorts by 'key' or 'value'");
  return world.list(
      sorted_by(world, call_method(world, "items", value, {}).items->all, flag(all[2]), false, [&](const Any& one) {
        const Any& part = one.items->all[by_value ? 1 : 0];
        return flag(all[0]) ? part : without_case(world, part);
      }));
}
Any filter_unique(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "unique", given, {"case_sensitive", "attribute"});
  std::vector<Any> made, keys;
  for (const Any& one : items_of(world, value)) {
    const Any key = key_with_case(world, one, all[1], flag(all[0]));
    if (std::ranges::any_of(keys, [&](const Any& known) { return are_equal(world, known, key); })) continue;
    keys.push_back(key);
    made.push_back(one);
  }
  return world.stream(std::move(made));
}
Any extreme(World& world, const Any& value, Given_ given, bool most) {
  const auto all = parameters(world, most ? "max" : "min", given, {"case_sensitive", "attribute"});
  std::optional<Any> best, best_key;
  for (const Any& one : items_of(world, value)) {
    const Any key = key_with_case(world, one, all[1], flag(all[0]));
    if (best && (most ? order_of(world, key, *best_key, ">") <= 0 : order_of(world, key, *best_key, "<") >= 0))
      continue;
    best = one, best_key = key;
  }
  return best ? *best : world.undefined("an item");
}
Any filter_max(World& world, const Any& value, Given_ given) { return extreme(world, value, given, true); }
Any filter_min(World& world, const Any& value, Given_ given) { return extreme(world, value, given, false); }
Any filter_sum(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "sum", given, {"attribute", "start"});
  Any total = all[1] ? *all[1] : integer_value(0);
  for (const Any& one : items_of(world, value)) {
    const Any part = all[0] && !all[0]->is(Type::none) ? path_of(world, one, *all[0]) : one;
    if (total.is(Type::text)) throw world.bad("sum of texts");
    total = operate(world, "+", total, part);
  }
  return total;
}

Any filter_map(World& world, const Any& value, Given_ given) {
  if (!truth(value)) return world.stream({});  // whatever it is, as in Jinja
  std::vector<Any> made;
  const std::vector<Any> items = items_of(world, value);
  if (given.places.empty()) {
    const auto all = parameters(world, "map", given, {"attribute", "default"});
    if (!all[0]) throw world.bad("map needs the name of a filter, or an attribute");
    for (const Any& one : items) made.push_back(path_of(world, one, *all[0], all[1]));
    return world.stream(std::move(made));
  }
  const std::string name(text_for(world, given.places[0]));
  const FilterRow* const filter = find_filter(name);
  if (filter == nullptr) throw world.unknown(fmt::format("the filter '{}' is not supported here", quote(name)));
  const Given rest{{given.places.begin() + 1, given.places.end()}, given.names};
  for (const Any& one : items) made.push_back(filter->apply(world, one, rest));
  return world.stream(std::move(made));
}

Any chosen(World& world, const Any& value, Given_ given, bool attribute, bool wanted) {
  if (!truth(value)) return world.stream({});
  Given rest{given.places, given.names};
  std::optional<Any> path;
  if (attribute) {
    if (rest.places.empty()) throw world.bad("expected the name of an attribute");
    path = rest.places.front();
    rest.places.erase(rest.places.begin());
  }
  const TestRow* test = nullptr;
  if (!rest.places.empty()) {
    const std::string_view name = text_for(world, rest.places.front());
    test = find_test(name);
    if (test == nullptr) throw world.unknown(fmt::format("the test '{}' is not supported", quote(name)));
    rest.places.erase(rest.places.begin());
  }
  std::vector<Any> made;
  for (const Any& one : items_of(world, value)) {
    const Any part = path ? path_of(world, one, *path) : one;
    if ((test == nullptr ? truth(part) : test->holds(world, part, rest)) == wanted) made.push_back(one);
  }
  return world.stream(std::move(made));
}
Any filter_select(World& world, const Any& value, Given_ given) { return chosen(world, value, given, false, true); }
Any filter_reject(World& world, const Any& value, Given_ given) { return chosen(world, value, given, false, false); }
Any filter_selectattr(World& world, const Any& value, Given_ given) { return chosen(world, value, given, true, true); }
Any filter_rejectattr(World& world, const Any& value, Given_ given) { return chosen(world, value, given, true, false); }

Any filter_default(World& world, const Any& value, Given_ given) {
  const auto all = parameters(world, "default", given, {"default_value", "boolean"});
  const bool missing = value.is(Type::undefined) || (flag(all[1]) && !truth(value));
  return !missing ? value : all[0] ? *all[0] : world.text("");
}

constexpr FilterRow kFilters[] = {
    {"abs", filter_abs},
    {"capitalize", filter_capitalize},
    {"count", filter_length},
    {"d", filter_default},
    {"default", filter_default},
    {"dictsort", filter_dictsort},
    {"first", filter_first},
    {"float", filter_float},
    {"indent", filter_indent},
    {"int", filter_int},
    {"items", filter_items},
    {"join", filter_join},
    {"last", filter_last},
    {"length", filter_length},
    {"list", filter_list},
    {"lower", filter_lower},
    {"map", filter_map},
    {"max", filter_max},
    {"min", filter_min},
    {"reject", filter_reject},
    {"rejectattr", filter_rejectattr},
    {"replace", filter_replace},
    {"reverse", filter_reverse},
    {"round", filter_round},
    {"safe", filter_safe},
    {"select", filter_select},
    {"selectattr", filter_selectattr},
    {"sort", filter_sort},
    {"string", filter_string},
    {"sum", filter_sum},
    {"title", filter_title},
    {"tojson", filter_tojson},
    {"trim", filter_trim},
    {"unique", filter_unique},
    {"upper", filter_upper},
};

}  // namespace

const FilterRow* find_filter(std::string_view name) {
  const auto found = std::ranges::find(kFilters, name, &FilterRow::name);
  return found == std::end(kFilters) ? nullptr : &*found;
}

}  // namespace tare::chat
