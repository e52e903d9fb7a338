// Values as text: str(), repr() and json.dumps() of Python.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "chat/characters.hpp"
#include "chat/values.hpp"

namespace tare::chat {
namespace {

// Charges a text for what it grows by, while it grows: a character may become ten.
class Growth {
 public:
  Growth(Meter& meter, const std::string& text) : meter_(meter), text_(text), charged_(text.size()) {}

  void note() {
    constexpr std::size_t kPiece = 4096;
    if (text_.size() - charged_ >= kPiece) charge();
  }
  void charge() {
    meter_.take(text_.size() - charged_);
    charged_ = text_.size();
  }

 private:
  Meter& meter_;
  const std::string& text_;
  std::size_t charged_;
};

void add_quoted(Meter& meter, std::string_view text, std::string& out) {
  Growth growth(meter, out);
  const char mark = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  out += mark;
  while (!text.empty()) {
    const CharacterAt next = character_at(text);
    if (next.value == static_cast<unsigned char>(mark) || next.value == '\\')
      out += '\\', out += static_cast<char>(next.value);
    else if (next.value == '\n')
      out += "\\n";
    else if (next.value == '\r')
      out += "\\r";
    else if (next.value == '\t')
      out += "\\t";
    else if (is_printable(next.value))
      out += text.substr(0, next.length);
    else if (next.value < 0x100)
      out += fmt::format("\\x{:02x}", next.value);
    else if (next.value < 0x10000)
      out += fmt::format("\\u{:04x}", next.value);
    else
      out += fmt::format("\\U{:08x}", next.value);
    text.remove_prefix(next.length);
    growth.note();
  }
  out += mark;
  growth.charge();
}

void add_repr(World& world, const Any& value, std::string& out) {
  const Meter::Level level(world.meter);
  world.meter.step();
  switch (value.type) {
    case Type::undefined: out += "Undefined"; return;
    case Type::text: require_plain(world, value); return add_quoted(world.meter, value.as_text(), out);
    case Type::list:
    case Type::tuple: {
      const bool list = value.is(Type::list);
      out += list ? '[' : '(';
      const std::vector<Any>& all = value.items->all;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i > 0) out += ", ";
        add_repr(world, all[i], out);
      }
      if (!list && all.size() == 1) out += ',';
      out += list ? ']' : ')';
      return;
    }
    case Type::dict: {
      out += '{';
      bool first = true;
      for (const auto& [key, one] : value.dict->entries) {
        if (!first) out += ", ";
        first = false;
        add_repr(world, key, out);
        out += ": ";
        add_repr(world, one, out);
      }
      out += '}';
      return;
    }
    default: add_shown(world, value, out);
  }
}

// ---- JSON ----

void add_json_text(Meter& meter, std::string_view text, bool ascii, std::string& out) {
  Growth growth(meter, out);
  out += '"';
  while (!text.empty()) {
    const CharacterAt next = character_at(text);
    const std::uint32_t c = next.value;
    constexpr std::string_view kEscaped = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
    if (const std::size_t found = c < 0x80 ? kEscaped.find(static_cast<char>(c)) : kEscaped.npos;
        found != kEscaped.npos)
      out += '\\', out += kLetters[found];
    else if (c < 0x20 || (ascii && c > 0x7E && c < 0x10000))
      out += fmt::format("\\u{:04x}", c);
    else if (ascii && c >= 0x10000)
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((c - 0x10000) >> 10), 0xDC00 + ((c - 0x10000) & 0x3FF));
    else
      out += text.substr(0, next.length);
    text.remove_prefix(next.length);
    growth.note();
  }
  out += '"';
  growth.charge();
}

std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  return float_text(value);
}

class JsonText {
 public:
  JsonText(World& world, const JsonStyle& style, std::string& out) : world_(world), style_(style), out_(out) {
    between_ = style.between.value_or(style.indent ? "," : ", ");
    after_key_ = style.after_key.value_or(": ");
  }

  void add(const Any& value, std::size_t depth) {
    const Meter::Level level(world_.meter);
    switch (value.type) {
      case Type::none: return put("null");
      case Type::boolean: return put(value.boolean ? "true" : "false");
      case Type::integer: return put(fmt::to_string(value.integer));
      case Type::real: return put(json_number(value.real));
      case Type::text: return add_json_text(world_.meter, value.as_text(), style_.ascii, out_);
      case Type::list:
      case Type::tuple: return add_list(value.items->all, depth);
      case Type::dict: return add_dict(*value.dict, depth);
      default: throw world_.bad(fmt::format("{} cannot be written as JSON", word_for(value)));
    }
  }

 private:
  void put(std::string_view text) {
    world_.meter.take(text.size());
    out_ += text;
  }
  void line(std::size_t depth) {
    if (!style_.indent) return;
    world_.meter.take(1 + depth * style_.indent->size());
    out_ += '\n';
    for (std::size_t i = 0; i < depth; ++i) out_ += *style_.indent;
  }
  void add_list(const std::vector<Any>& all, std::size_t depth) {
    if (all.empty()) return put("[]");
    put("[");
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) put(between_);
      line(depth + 1);
      add(all[i], depth + 1);
    }
    line(depth);
    put("]");
  }
  void add_dict(const Dict& dict, std::size_t depth) {
    if (dict.entries.empty()) return put("{}");
    world_.meter.take(dict.entries.size() * sizeof(const void*));
    std::vector<const std::pair<Any, Any>*> entries;
    for (const auto& entry : dict.entries) entries.push_back(&entry);
    if (style_.sorted)
      std::ranges::stable_sort(
          entries, [&](const auto* a, const auto* b) { return order_of(world_, a->first, b->first, "<") < 0; });
    put("{");
    bool first = true;
    for (const auto* const entry : entries) {
      if (!first) put(between_);
      first = false;
      line(depth + 1);
      add_key(entry->first);
      put(after_key_);
      add(entry->second, depth + 1);
    }
    line(depth);
    put("}");
  }
  void add_key(const Any& key) {
    if (key.is(Type::text)) return add(key, 0);
    if (!key.is_number() && !key.is(Type::none))
      throw world_.bad(fmt::format("{} cannot be a key in JSON", word_for(key)));
    put("\"");
    add(key, 0);
    put("\"");
  }

  World& world_;
  const JsonStyle& style_;
  std::string& out_;
  std::string between_, after_key_;
};

}  // namespace

void add_shown(World& world, const Any& value, std::string& out) {
  const std::size_t before = out.size();
  switch (value.type) {
    case Type::undefined: return;
    case Type::none: out += "None"; break;
    case Type::boolean: out += value.boolean ? "True" : "False"; break;
    case Type::integer: out += fmt::to_string(value.integer); break;
    case Type::real: out += float_text(value.real); break;
    case Type::text: out += *value.text; break;
    case Type::list:
    case Type::tuple:
    case Type::dict: add_repr(world, value, out); break;
    default: throw world.unknown(fmt::format("{} cannot be written as text here", word_for(value)));
  }
  world.meter.take(out.size() - before);
}

std::string shown(World& world, const Any& value) {
  std::string out;
  add_shown(world, value, out);
  return out;
}

std::string json_of(World& world, const Any& value, const JsonStyle& style) {
  std::string out;
  JsonText(world, style, out).add(value, 0);
  return out;
}

}  // namespace tare::chat
