#include "wire/value_json.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "base/json_writer.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::wire {
namespace {

Error malformed(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

Bytes from_hex(const Value& value) {
  const std::string* hex = value.text();
  if (hex == nullptr || hex->size() % 2 != 0) throw malformed("json.form", "expected an even number of hex digits");
  Bytes bytes(hex->size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t byte = 0;
    const char* const at = hex->data() + 2 * i;
    if (std::from_chars(at, at + 2, byte, 16).ptr != at + 2) throw malformed("json.form", "not a hex digit");
    bytes[i] = std::byte{byte};
  }
  return bytes;
}

Value parse_f64(const Value& value) {
  const Bytes bytes = from_hex(value);
  if (bytes.size() != 8) throw malformed("json.form", "expected 16 hex digits for a float's bits");
  std::uint64_t bits = 0;
  for (const std::byte b : bytes) bits = bits << 8 | std::to_integer<std::uint64_t>(b);
  return std::bit_cast<double>(bits);
}

Value parse_map(Value& value) {
  List* const entries = value.get<List>();
  if (entries == nullptr) throw malformed("json.form", "expected a list of pairs");
  Map map;
  for (Value& entry : *entries) {
    List* const pair = entry.get<List>();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr)
      throw malformed("json.form", "expected a pair of key and value");
    std::string& key = *(*pair)[0].get<std::string>();
    if (map.find(key) != nullptr)
      throw malformed("json.duplicate", fmt::format("the key \"{}\" appears twice", quote(key)));
    map.append(std::move(key), std::move((*pair)[1]));
  }
  return map;
}

// An object with one key that starts with "$" is one of our escapes.
Value finish_spelling(Map map) {
  if (map.size() != 1 || !map.begin()->first.starts_with('$')) return map;
  auto& [key, value] = *map.begin();
  if (key == "$bytes") return from_hex(value);
  if (key == "$text") return std::string(as_text(from_hex(value)));
  if (key == "$f64") return parse_f64(value);
  if (key == "$map") return parse_map(value);
  if (key == "$opaque") {
    const List* const parts = value.get<List>();
    if (parts == nullptr || parts->size() != 2 || (*parts)[0].text() == nullptr)
      throw malformed("json.form", "expected a syntax and its hex digits");
    // Accept only syntaxes that values come from: the word is shown to people and is part of content digests.
    if (*(*parts)[0].text() != "cbor")
      throw malformed("json.form", fmt::format("\"{}\" is not a syntax that values are kept in", *(*parts)[0].text()));
    return Opaque{*(*parts)[0].text(), from_hex((*parts)[1])};
  }
  throw malformed("json.form", fmt::format("\"{}\" is not a known encoding", quote(key)));
}

}  // namespace

std::string write_value_json(const Value& value) { return write_json(value, {.exact = true}); }

Value parse_value_json(std::string_view text, TreeBounds& bounds) {
  try {
    return read_json(text, bounds, {.finish = finish_spelling});
  } catch (const Error& error) {
    if (!error.offset()) throw;
    throw Error(error.kind(), error.rule(), fmt::format("{}, at byte {}", error.sentence(), *error.offset()));
  }
}

}  // namespace tare::wire
