#include "chat/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "chat/characters.hpp"

namespace tare::chat {
namespace {

constexpr std::uint64_t kObject = 64;  // bytes that a small object takes, about

bool can_be_key(const Any& value) {
  return value.is(Type::text) || value.is_number() || value.is(Type::none) || value.is(Type::tuple) ||
         value.is(Type::undefined);
}

// Whole numbers of 64 bits fit into the mantissa on x86, and into that of a quadruple elsewhere.
long double wide(const Any& value) {
  if (value.is(Type::real)) return static_cast<long double>(value.real);
  return static_cast<long double>(value.is(Type::boolean) ? std::int64_t{value.boolean} : value.integer);
}

bool are_equal_items(World& world, const Items& a, const Items& b) {
  if (a.all.size() != b.all.size()) return false;
  for (std::size_t i = 0; i < a.all.size(); ++i)
    if (!are_equal(world, a.all[i], b.all[i])) return false;
  return true;
}

// A search compares the key with a few others, each of which may be as long.
const Any* find_text_key(World& world, const Dict& dict, std::string_view key) {
  world.meter.look(key.size() * static_cast<std::uint64_t>(std::bit_width(dict.texts.size())));
  return dict.find(key);
}

const Any* find_key(World& world, const Dict& dict, const Any& key) {
  if (key.is(Type::text)) return find_text_key(world, dict, key.as_text());
  if (dict.texts.size() == dict.entries.size()) return nullptr;
  for (const auto& [one, value] : dict.entries) {
    world.meter.step();
    if (!one.is(Type::text) && are_equal(world, one, key)) return &value;
  }
  return nullptr;
}

}  // namespace

const Any* Dict::find(std::string_view key) const {
  const auto found = texts.find(key);
  return found == texts.end() ? nullptr : &entries[found->second].second;
}

Any none_value() {
  Any made;
  made.type = Type::none;
  return made;
}
Any boolean_value(bool value) {
  Any made;
  made.type = Type::boolean, made.boolean = value;
  return made;
}
Any integer_value(std::int64_t value) {
  Any made;
  made.type = Type::integer, made.integer = value;
  return made;
}
Any real_value(double value) {
  Any made;
  made.type = Type::real, made.real = value;
  return made;
}

Any World::text(std::string value) {
  meter.take(kObject + value.size());
  Any made;
  made.type = Type::text, made.text = &texts_.emplace_back(std::move(value));
  return made;
}
Any World::undefined(std::string what) {
  Any made = text(std::move(what));
  made.type = Type::undefined;
  return made;
}
Any World::list(std::vector<Any> items, Type type) {
  meter.take(kObject + items.size() * sizeof(Any));
  Any made;
  made.type = type, made.items = &items_.emplace_back(Items{std::move(items)});
  return made;
}
Any World::stream(std::vector<Any> items) {
  meter.take(kObject + items.size() * sizeof(Any));
  Any made;
  made.type = Type::stream, made.stream = &streams_.emplace_back(Stream{std::move(items)});
  return made;
}
Any World::dict(std::vector<std::pair<Any, Any>> entries) {
  meter.take(kObject + entries.size() * 2 * kObject);
  Dict& dict = dicts_.emplace_back();
  dict.entries.reserve(entries.size());
  for (auto& [key, value] : entries) {
    if (!can_be_key(key)) throw bad(fmt::format("{} cannot be a key", word_for(key)));
    if (const Any* const known = find_key(*this, dict, key)) {
      *const_cast<Any*>(known) = value;  // this dict is not shared yet
      continue;
    }
    if (key.is(Type::text)) dict.texts.emplace(key.as_text(), dict.entries.size());
    dict.entries.emplace_back(key, value);
  }
  Any made;
  made.type = Type::dict, made.dict = &dict;
  return made;
}
Any World::names() {
  meter.take(kObject);
  Any made;
  made.type = Type::names, made.names = &names_.emplace_back();
  return made;
}
Any World::function(Function function) {
  meter.take(kObject);
  Any made;
  made.type = Type::function, made.function = &functions_.emplace_back(std::move(function));
  return made;
}
Any World::loop(Loop loop, Loop*& out) {
  meter.take(kObject);
  out = &loops_.emplace_back(loop);
  Any made;
  made.type = Type::loop, made.loop = out;
  return made;
}
Scope& World::scope(Scope* parent) {
  meter.take(kObject);
  return scopes_.emplace_back(Scope{parent, {}});
}

Any World::from(const Value& value) {
  constexpr std::uint64_t kPerValue = 16;
  const Meter::Level level(meter);
  return std::visit(
      [&](const auto& one) -> Any {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return none_value();
        } else if constexpr (std::is_same_v<T, bool>) {
          return boolean_value(one);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return integer_value(one);
        } else if constexpr (std::is_same_v<T, double>) {
          return real_value(one);
        } else if constexpr (std::is_same_v<T, std::string>) {
          meter.allow(kPerValue + one.size());
          return text(as_valid(one));
        } else if constexpr (std::is_same_v<T, List>) {
          meter.allow(kPerValue * one.size());
          std::vector<Any> items;
          for (const Value& item : one) items.push_back(from(item));
          return list(std::move(items));
        } else if constexpr (std::is_same_v<T, Map>) {
          std::vector<std::pair<Any, Any>> entries;
          for (const auto& [key, item] : one) {
            meter.allow(kPerValue + key.size());
            entries.emplace_back(text(as_valid(key)), from(item));
          }
          return dict(std::move(entries));
        } else {
          throw unknown("a variable has a value that is not supported in templates");
        }
      },
      value.data());
}

std::string_view word_for(const Any& value) {
  switch (value.type) {
    case Type::undefined: return "an undefined value";
    case Type::none: return "none";
    case Type::boolean: return "a boolean";
    case Type::integer: return "a whole number";
    case Type::real: return "a number";
    case Type::text: return "a text";
    case Type::list: return "a list";
    case Type::tuple: return "a tuple";
    case Type::range: return "a range";
    case Type::view: return "a view of a dict";
    case Type::stream: return "the result of a filter that is not a list";
    case Type::dict: return "a dict";
    case Type::names: return "a namespace";
    case Type::function: return "a function";
    case Type::loop: return "the loop";
  }
  return "";
}

void require_defined(World& world, const Any& value) {
  if (!value.is(Type::undefined)) return;
  throw world.bad(value.text == nullptr ? "a value is undefined"
                                        : fmt::format("'{}' is undefined", quote(*value.text)));
}

void require_plain(World& world, const Any& value) {
  if (value.safe) throw world.unknown("a text from the filter 'safe' can only be written, compared and joined");
}

bool truth(const Any& value) {
  switch (value.type) {
    case Type::undefined:
    case Type::none: return false;
    case Type::boolean: return value.boolean;
    case Type::integer: return value.integer != 0;
    case Type::real: return value.real != 0;
    case Type::text: return !value.text->empty();
    case Type::list:
    case Type::tuple:
    case Type::range:
    case Type::view: return !value.items->all.empty();
    case Type::dict: return !value.dict->entries.empty();
    case Type::loop: return !value.loop->items.empty();
    default: return true;
  }
}

bool are_equal(World& world, const Any& a, const Any& b) {
  const Meter::Level level(world.meter);
  world.meter.step();
  if (a.is_number() && b.is_number()) return wide(a) == wide(b);
  if (a.type != b.type) return false;
  switch (a.type) {
    case Type::undefined:
    case Type::none: return true;
    case Type::text: world.meter.look(std::min(a.text->size(), b.text->size())); return *a.text == *b.text;
    case Type::list:
    case Type::tuple:
    case Type::range: return are_equal_items(world, *a.items, *b.items);
    case Type::dict: {
      if (a.dict->entries.size() != b.dict->entries.size()) return false;
      for (const auto& [key, value] : a.dict->entries) {
        const Any* const other = find_key(world, *b.dict, key);
        if (other == nullptr || !are_equal(world, value, *other)) return false;
      }
      return true;
    }
    case Type::view: throw world.unknown("views of dicts cannot be compared");
    case Type::names: return a.names == b.names;
    case Type::stream: return a.stream == b.stream;
    case Type::loop: return a.loop == b.loop;
    default: return a.function == b.function;
  }
}

int order_of(World& world, const Any& a, const Any& b, std::string_view sign) {
  const Meter::Level level(world.meter);
  world.meter.step();
  require_defined(world, a);
  require_defined(world, b);
  if (a.is_number() && b.is_number()) {
    const long double left = wide(a), right = wide(b);
    if (std::isnan(left) || std::isnan(right)) throw world.unknown("NaN has no order");
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (a.is(Type::text) && b.is(Type::text)) {
    world.meter.look(std::min(a.text->size(), b.text->size()));
    const int found = a.text->compare(*b.text);  // as bytes of UTF-8: the order of the characters
    return found < 0 ? -1 : found > 0 ? 1 : 0;
  }
  if (a.type == b.type && (a.is(Type::list) || a.is(Type::tuple))) {
    const std::vector<Any>&left = a.items->all, &right = b.items->all;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
      if (!are_equal(world, left[i], right[i])) return order_of(world, left[i], right[i], sign);
    return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
  }
  throw world.bad(fmt::format("'{}' is not defined between {} and {}", sign, word_for(a), word_for(b)));
}

std::vector<Any> items_of(World& world, const Any& value) {
  switch (value.type) {
    case Type::undefined: return {};
    case Type::text: {
      std::vector<Any> all;
      for (std::string_view rest = value.as_text(); !rest.empty();) {
        const std::size_t length = character_at(rest).length;
        all.push_back(world.text(std::string(rest.substr(0, length))));
        rest.remove_prefix(length);
      }
      return all;
    }
    case Type::list:
    case Type::tuple:
    case Type::range:
    case Type::view: world.meter.take(value.items->all.size() * sizeof(Any)); return value.items->all;
    case Type::stream:
      if (std::exchange(value.stream->used, true)) return {};
      world.meter.take(value.stream->all.size() * sizeof(Any));
      return value.stream->all;
    case Type::dict: {
      world.meter.take(value.dict->entries.size() * sizeof(Any));
      std::vector<Any> keys;
      for (const auto& entry : value.dict->entries) keys.push_back(entry.first);
      return keys;
    }
    case Type::loop: throw world.unknown("the loop itself cannot be gone through");
    default: throw world.bad(fmt::format("{} has no items", word_for(value)));
  }
}

std::size_t length_of(World& world, const Any& value) {
  switch (value.type) {
    case Type::undefined: return 0;
    case Type::text: world.meter.look(value.text->size()); return count_characters(*value.text);
    case Type::list:
    case Type::tuple:
    case Type::range:
    case Type::view: return value.items->all.size();
    case Type::dict: return value.dict->entries.size();
    case Type::loop: return value.loop->items.size();
    default: throw world.bad(fmt::format("{} has no length", word_for(value)));
  }
}

bool contains(World& world, const Any& in, const Any& what) {
  if (in.is(Type::text)) {
    require_defined(world, what);
    if (!what.is(Type::text)) throw world.bad(fmt::format("a text cannot contain {}", word_for(what)));
    return find_text(world.meter, in.as_text(), what.as_text()) != std::string_view::npos;
  }
  if (in.is(Type::dict)) {
    if (!can_be_key(what)) throw world.bad(fmt::format("{} cannot be a key", word_for(what)));
    return find_key(world, *in.dict, what) != nullptr;
  }
  if (in.is(Type::stream)) throw world.unknown("'in' is not supported for the result of a filter that is not a list");
  const std::vector<Any> all = items_of(world, in);
  return std::ranges::any_of(all, [&](const Any& one) { return are_equal(world, one, what); });
}

// ---- operators ----

namespace {

std::int64_t whole_of(const Any& value) {
  return value.is(Type::boolean) ? std::int64_t{value.boolean} : value.integer;
}
double real_of(const Any& value) { return value.is(Type::real) ? value.real : static_cast<double>(whole_of(value)); }

Error too_large(World& world) { return world.unknown("numbers of more than 64 bits are not supported"); }

Any operate_whole(World& world, std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t made = 0;
  const auto checked = [&](bool overflow) {
    if (overflow) throw too_large(world);
    return integer_value(made);
  };
  if (sign == "+") return checked(__builtin_add_overflow(a, b, &made));
  if (sign == "-") return checked(__builtin_sub_overflow(a, b, &made));
  if (sign == "*") return checked(__builtin_mul_overflow(a, b, &made));
  if (sign == "**") {
    if (b < 0) {
      if (a == 0) throw world.bad("a division by zero");
      return real_value(std::pow(static_cast<double>(a), static_cast<double>(b)));
    }
    made = 1;
    for (std::int64_t i = 0; i < b && made != 0 && a != 1; ++i) {
      world.meter.step();
      if (__builtin_mul_overflow(made, a, &made)) throw too_large(world);
    }
    return integer_value(made);
  }
  if (b == 0) throw world.bad("a division by zero");
  if (sign == "/") return real_value(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
  if (b == -1) {
    if (sign == "%") return integer_value(0);
    return checked(__builtin_sub_overflow(std::int64_t{0}, a, &made));
  }
  const std::int64_t rest = a % b;
  const bool below = rest != 0 && (rest < 0) != (b < 0);  // Python rounds down
  return integer_value(sign == "%" ? rest + (below ? b : 0) : a / b - (below ? 1 : 0));
}

Any operate_real(World& world, std::string_view sign, double a, double b) {
  if (sign == "+") return real_value(a + b);
  if (sign == "-") return real_value(a - b);
  if (sign == "*") return real_value(a * b);
  if (sign == "**") {
    if (a == 0 && b < 0) throw world.bad("a division by zero");
    if (a < 0 && b != std::floor(b)) throw world.unknown("complex numbers are not supported");
    const double made = std::pow(a, b);
    if (std::isinf(made) && std::isfinite(a) && std::isfinite(b)) throw world.bad("a number is too large");
    return real_value(made);
  }
  if (b == 0) throw world.bad("a division by zero");
  if (sign == "/") return real_value(a / b);
  double rest = std::fmod(a, b), times = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) rest += b, times -= 1;
  if (rest == 0) rest = std::copysign(0.0, b);
  if (sign == "%") return real_value(rest);
  if (times == 0) return real_value(std::copysign(0.0, a / b));
  const double floor = std::floor(times);
  return real_value(times - floor > 0.5 ? floor + 1 : floor);
}

Any repeated(World& world, const Any& value, std::int64_t times) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(times, 0));
  const std::size_t one = value.is(Type::text) ? value.text->size() : value.items->all.size() * sizeof(Any);
  if (one != 0 && count > world.meter.bytes_left() / one) world.meter.take(std::numeric_limits<std::uint64_t>::max());
  world.meter.take(one * count);
  if (value.is(Type::text)) {
    std::string made;
    made.reserve(one * count);
    for (std::uint64_t i = 0; i < count && one != 0; ++i) made += *value.text;
    return world.text(std::move(made));
  }
  std::vector<Any> made;
  made.reserve(value.items->all.size() * count);
  for (std::uint64_t i = 0; i < count && one != 0; ++i)
    made.insert(made.end(), value.items->all.begin(), value.items->all.end());
  return world.list(std::move(made), value.type);
}

// What joining it with a text from `safe` makes of a text.
std::string escaped(World& world, const Any& value) {
  constexpr std::uint64_t kMostBytes = 5;  // that a character becomes
  world.meter.take(value.as_text().size() * (value.safe ? 1 : kMostBytes));
  std::string made;
  for (const char c : value.as_text()) {
    const std::string_view other = c == '&'    ? "&amp;"
                                   : c == '<'  ? "&lt;"
                                   : c == '>'  ? "&gt;"
                                   : c == '\'' ? "&#39;"
                                   : c == '"'  ? "&#34;"
                                               : "";
    if (value.safe || other.empty())
      made += c;
    else
      made += other;
  }
  return made;
}

bool can_repeat(const Any& value) { return value.is(Type::text) || value.is(Type::list) || value.is(Type::tuple); }
bool is_whole(const Any& value) { return value.is(Type::integer) || value.is(Type::boolean); }

}  // namespace

Any operate(World& world, std::string_view sign, const Any& a, const Any& b) {
  require_defined(world, a);
  if (sign == "+" && a.is(Type::text) && b.is(Type::text) && (a.safe || b.safe)) {
    Any made = world.text(escaped(world, a) + escaped(world, b));
    made.safe = true;
    return made;
  }
  require_plain(world, a);
  require_plain(world, b);
  if (sign == "%" && a.is(Type::text)) throw world.unknown("texts with places for values (%) are not supported");
  require_defined(world, b);
  if (is_whole(a) && is_whole(b)) return operate_whole(world, sign, whole_of(a), whole_of(b));
  if (a.is_number() && b.is_number()) return operate_real(world, sign, real_of(a), real_of(b));
  if (sign == "+" && a.type == b.type) {
    if (a.is(Type::text)) {
      world.meter.take(a.text->size() + b.text->size());
      return world.text(*a.text + *b.text);
    }
    if (a.is(Type::list) || a.is(Type::tuple)) {
      world.meter.take((a.items->all.size() + b.items->all.size()) * sizeof(Any));
      std::vector<Any> all = a.items->all;
      all.insert(all.end(), b.items->all.begin(), b.items->all.end());
      return world.list(std::move(all), a.type);
    }
  }
  if (sign == "*" && can_repeat(a) && is_whole(b)) return repeated(world, a, whole_of(b));
  if (sign == "*" && can_repeat(b) && is_whole(a)) return repeated(world, b, whole_of(a));
  if (a.is(Type::view) || b.is(Type::view)) throw world.unknown("views of dicts have no operators here");
  throw world.bad(fmt::format("'{}' is not defined for {} and {}", sign, word_for(a), word_for(b)));
}

Any negated(World& world, const Any& value, bool minus) {
  require_defined(world, value);
  if (value.is(Type::real)) return real_value(minus ? -value.real : value.real);
  if (!value.is_number()) throw world.bad(fmt::format("{} has no sign", word_for(value)));
  if (!minus) return integer_value(whole_of(value));
  return operate_whole(world, "-", 0, whole_of(value));
}

// ---- parts ----

namespace {

struct Slots {
  std::int64_t first, count, step;
};

// As slice.indices() of Python does.
Slots slots_of(World& world, std::size_t size, const Any& begin, const Any& end, const Any& step) {
  const auto number = [&](const Any& one) -> std::optional<std::int64_t> {
    if (one.is(Type::none)) return std::nullopt;
    require_defined(world, one);
    if (!is_whole(one)) throw world.bad(fmt::format("expected whole numbers in a slice, found {}", word_for(one)));
    return whole_of(one);
  };
  const auto length = static_cast<std::int64_t>(size);
  const std::int64_t by = number(step).value_or(1);
  if (by == 0) throw world.bad("the step of a slice is 0");
  if (by == std::numeric_limits<std::int64_t>::min()) throw too_large(world);
  const std::int64_t least = by < 0 ? -1 : 0, most = by < 0 ? length - 1 : length;
  const auto place = [&](const Any& one, std::int64_t usual) {
    const auto given = number(one);
    if (!given) return usual;
    const std::int64_t at = *given < 0 ? *given + length : *given;
    return std::clamp(at, least, most);
  };
  const std::int64_t first = place(begin, by < 0 ? most : least), last = place(end, by < 0 ? least : most);
  std::int64_t count = 0;
  if (by > 0 && first < last) count = (last - first - 1) / by + 1;
  if (by < 0 && last < first) count = (first - last - 1) / -by + 1;
  return {first, count, by};
}

// Where each character begins, and the end.
std::vector<std::size_t> beginnings(World& world, std::string_view text) {
  world.meter.take(text.size() * sizeof(std::size_t));
  std::vector<std::size_t> all;
  for (std::size_t at = 0; at < text.size(); at += character_at(text.substr(at)).length) all.push_back(at);
  all.push_back(text.size());
  return all;
}

Any character_of(World& world, const Any& text, std::int64_t index) {
  world.meter.look(text.text->size());
  const std::string_view all = text.as_text();
  const bool ascii = std::ranges::all_of(all, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const auto length = static_cast<std::int64_t>(ascii ? all.size() : count_characters(all));
  if (index < 0) index += length;
  if (index < 0 || index >= length) return world.undefined("an item");
  if (ascii) return world.text(std::string(1, all[static_cast<std::size_t>(index)]));
  std::string_view rest = all;
  for (; index > 0; --index) rest.remove_prefix(character_at(rest).length);
  return world.text(std::string(rest.substr(0, character_at(rest).length)));
}

constexpr std::string_view kLoopNames[] = {"index",     "index0",   "first",    "last",  "length", "revindex",
                                           "revindex0", "previtem", "nextitem", "depth", "depth0"};

Any loop_attribute(World& world, const Any& value, std::string_view name) {
  const Loop& loop = *value.loop;
  const auto at = static_cast<std::int64_t>(loop.index), length = static_cast<std::int64_t>(loop.items.size());
  if (name == "cycle") return world.function({.what = Function::What::cycle, .name = "cycle", .self = value});
  if (name == "changed") return world.function({.what = Function::What::changed, .name = "changed", .self = value});
  switch (std::ranges::find(kLoopNames, name) - std::begin(kLoopNames)) {
    case 0: return integer_value(at + 1);
    case 1: return integer_value(at);
    case 2: return boolean_value(at == 0);
    case 3: return boolean_value(at + 1 == length);
    case 4: return integer_value(length);
    case 5: return integer_value(length - at);
    case 6: return integer_value(length - at - 1);
    case 7: return at == 0 ? world.undefined("loop.previtem") : loop.items[loop.index - 1];
    case 8: return at + 1 == length ? world.undefined("loop.nextitem") : loop.items[loop.index + 1];
    case 9: return integer_value(1);
    case 10: return integer_value(0);
    default: return world.undefined(std::string(name));
  }
}

constexpr std::string_view kNumberNames[] = {"real",     "imag",       "numerator", "denominator",      "conjugate",
                                             "to_bytes", "from_bytes", "bit_count", "as_integer_ratio", "bit_length",
                                             "hex",      "fromhex",    "is_integer"};

}  // namespace

Any attribute_of(World& world, const Any& of, std::string_view name) {
  require_defined(world, of);
  require_plain(world, of);
  if (name.starts_with("__")) throw world.unknown(fmt::format("the attribute '{}' is not supported", quote(name)));
  if (has_method(of, name)) return world.function({.what = Function::What::method, .name = name, .self = of});
  switch (of.type) {
    case Type::dict:
      if (const Any* const found = find_text_key(world, *of.dict, name)) return *found;
      break;
    case Type::names:
      for (const auto& [key, value] : of.names->all) {
        world.meter.look(key.size() == name.size() ? name.size() : 0);
        if (key == name) return value;
      }
      break;
    case Type::loop: return loop_attribute(world, of, name);
    case Type::boolean:
    case Type::integer:
    case Type::real:
      if (std::ranges::find(kNumberNames, name) != std::end(kNumberNames))
        throw world.unknown(fmt::format("the attribute '{}' of a number is not supported", quote(name)));
      break;
    case Type::range:
    case Type::view:
    case Type::function:
      throw world.unknown(fmt::format("the attribute '{}' of {} is not supported", quote(name), word_for(of)));
    default: break;
  }
  return world.undefined(std::string(name));
}

Any item_of(World& world, const Any& of, const Any& index) {
  require_defined(world, of);
  require_plain(world, of);
  if (of.is(Type::dict)) {
    if (can_be_key(index))
      if (const Any* const found = find_key(world, *of.dict, index)) return *found;
  } else if (is_whole(index) && of.is_sequence()) {
    const auto size = static_cast<std::int64_t>(of.items->all.size());
    const std::int64_t at = whole_of(index) < 0 ? whole_of(index) + size : whole_of(index);
    if (at >= 0 && at < size) return of.items->all[static_cast<std::size_t>(at)];
    return world.undefined("an item");
  } else if (is_whole(index) && of.is(Type::text)) {
    return character_of(world, of, whole_of(index));
  }
  return index.is(Type::text) ? attribute_of(world, of, index.as_text()) : world.undefined("an item");
}

Any slice_of(World& world, const Any& of, const Any& begin, const Any& end, const Any& step) {
  require_defined(world, of);
  require_plain(world, of);
  if (of.is_sequence()) {
    const Slots slots = slots_of(world, of.items->all.size(), begin, end, step);
    world.meter.take(static_cast<std::uint64_t>(slots.count) * sizeof(Any));
    std::vector<Any> made;
    for (std::int64_t i = 0; i < slots.count; ++i)
      made.push_back(of.items->all[static_cast<std::size_t>(slots.first + i * slots.step)]);
    return world.list(std::move(made), of.type);
  }
  if (!of.is(Type::text)) throw world.bad(fmt::format("{} has no slices", word_for(of)));
  const std::vector<std::size_t> at = beginnings(world, of.as_text());
  const Slots slots = slots_of(world, at.size() - 1, begin, end, step);
  std::string made;
  for (std::int64_t i = 0; i < slots.count; ++i) {
    const auto place = static_cast<std::size_t>(slots.first + i * slots.step);
    made += of.as_text().substr(at[place], at[place + 1] - at[place]);
  }
  return world.text(std::move(made));
}

std::size_t find_text(Meter& meter, std::string_view text, std::string_view what, std::size_t from) {
  if (from > text.size()) return text.npos;
  if (what.empty()) return from;
  meter.look(text.size() - from + what.size());  // a long text to be found is prepared each time
  // Linear in the length of both, unlike std::string_view::find.
  const void* const found = ::memmem(text.data() + from, text.size() - from, what.data(), what.size());
  if (found == nullptr) return text.npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace tare::chat
