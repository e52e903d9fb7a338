#include "base/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace tare {
namespace {

constexpr bool must_be_escaped(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(std::string& out, char c) {
  constexpr std::string_view kMeanings = "\"\\\b\f\n\r\t", kEscapes = "\"\\bfnrt";
  if (const std::size_t which = kMeanings.find(c); which != kMeanings.npos)
    out += {'\\', kEscapes[which]};
  else
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
}

class ValueWriter {
 public:
  explicit ValueWriter(const JsonStyle& style) : style_(style) {}

  std::string take() { return std::move(out_); }
  void write(const Value& value) {
    std::visit([this](const auto& v) { put(v); }, value.data());
  }
  void put(const Map& map) {
    if (style_.exact && !is_sayable(map)) return put_as_pairs(map);
    if (style_.keys == JsonKeys::in_order)
      return put_all('{', map, '}', [this](const Map::Entry& entry) { put_entry(entry); });
    std::vector<const Map::Entry*> sorted;
    sorted.reserve(map.size());
    for (const auto& entry : map) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    put_all('{', sorted, '}', [this](const Map::Entry* entry) { put_entry(*entry); });
  }

 private:
  void put(std::monostate) { out_ += "null"; }
  void put(bool v) { out_ += v ? "true" : "false"; }
  void put(std::int64_t v) { fmt::format_to(std::back_inserter(out_), "{}", v); }
  void put(std::uint64_t v) { fmt::format_to(std::back_inserter(out_), "{}", v); }
  void put(double v) {
    if (std::isfinite(v))
      out_ += float_text(v);
    else if (style_.exact)
      out_ += fmt::format("{{\"$f64\":\"{:016x}\"}}", std::bit_cast<std::uint64_t>(v));
    else
      out_ += std::isnan(v) ? "\"NaN\"" : v > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
  void put(const std::string& v) {
    if (style_.exact && !is_valid_utf8(v))
      put_spelled("$text", std::as_bytes(std::span(v)));
    else
      append_json_string(out_, v);
  }
  void put(const Bytes& v) { put_spelled("$bytes", v); }
  void put(const Opaque& v) {
    // The reader that created the value chose the word.
    if (!style_.exact) return put_spelled("$" + v.syntax, v.bytes);
    out_ += "{\"$opaque\":[";
    put(v.syntax);
    out_ += ",\"" + to_hex(v.bytes) + "\"]}";
  }
  void put(const List& v) {
    put_all('[', v, ']', [this](const Value& item) { write(item); });
  }

  void put_spelled(std::string_view key, std::span<const std::byte> bytes) {
    out_ += '{';
    append_json_string(out_, key);
    out_ += ":\"" + to_hex(bytes) + "\"}";
  }

  void put_entry(const Map::Entry& entry) {
    append_json_string(out_, entry.first);
    out_ += style_.indent == 0 ? ":" : ": ";
    write(entry.second);
  }

  // False for an object that looks like one of the escapes ("$bytes"), or with a key that is not UTF-8.
  static bool is_sayable(const Map& map) {
    return (map.size() != 1 || !map.begin()->first.starts_with('$')) &&
           std::all_of(map.begin(), map.end(), [](const auto& entry) { return is_valid_utf8(entry.first); });
  }
  void put_as_pairs(const Map& map) {
    out_ += "{\"$map\":";
    put_all('[', map, ']', [this](const Map::Entry& entry) {
      out_ += '[';
      put(entry.first);
      out_ += ',';
      write(entry.second);
      out_ += ']';
    });
    out_ += '}';
  }

  template <typename Items, typename Put>
  void put_all(char open, const Items& items, char close, const Put& put_item) {
    out_ += open;
    ++level_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_ += ',';
      first = false;
      begin_line();
      put_item(item);
    }
    --level_;
    if (!first) begin_line();
    out_ += close;
  }
  void begin_line() {
    if (style_.indent > 0) out_.append(1, '\n').append(std::size_t{level_} * style_.indent, ' ');
  }

  const JsonStyle& style_;
  std::string out_;
  unsigned level_ = 0;
};

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const bool valid = is_valid_utf8(text);
  const auto stops = [&](char c) { return must_be_escaped(c) || (!valid && static_cast<unsigned char>(c) >= 0x80); };
  for (;;) {
    const auto run = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), stops) - text.begin());
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const CodePoint point = first_code_point(text);
    if (!point.valid)
      fmt::format_to(std::back_inserter(out), "\\\\x{:02X}", point.value);
    else if (point.length == 1)
      append_escape(out, text[0]);
    else
      out += text.substr(0, point.length);
    text.remove_prefix(point.length);
  }
  out += '"';
}

std::string write_json(const Value& value, const JsonStyle& style) {
  ValueWriter writer(style);
  writer.write(value);
  return writer.take();
}

std::string write_json(const Map& map, const JsonStyle& style) {
  ValueWriter writer(style);
  writer.put(map);
  return writer.take();
}

std::string to_json(const Map& map, JsonKeys keys) { return write_json(map, {.keys = keys}); }
std::string to_json(const Value& value, JsonKeys keys) { return write_json(value, {.keys = keys}); }

}  // namespace tare
