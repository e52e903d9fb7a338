#include "wire/value_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "base/json_writer.hpp"
#include "tare/error.hpp"

namespace tare::wire {
namespace {

Error malformed(std::string_view rule, std::string_view sentence) { return {ErrorKind::corrupt, rule, sentence}; }

Bytes from_hex(const Value& value) {
  const std::string* hex = value.text();
  if (hex == nullptr || hex->size() % 2 != 0) throw malformed("json.form", "an even number of hex digits expected");
  Bytes bytes(hex->size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::uint8_t byte = 0;
    const char* const at = hex->data() + 2 * i;
    if (std::from_chars(at, at + 2, byte, 16).ptr != at + 2) throw malformed("json.form", "not a hex digit");
    bytes[i] = std::byte{byte};
  }
  return bytes;
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Value parse_f64(const Value& value) {
  const Bytes bytes = from_hex(value);
  if (bytes.size() != 8) throw malformed("json.form", "16 hex digits expected for a float's bits");
  std::uint64_t bits = 0;
  for (const std::byte b : bytes) bits = bits << 8 | std::to_integer<std::uint64_t>(b);
  return std::bit_cast<double>(bits);
}

void refuse_duplicates(const Map& map) {
  std::vector<std::string_view> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end())
    throw malformed("json.duplicate", fmt::format("the key \"{}\" is there twice", escape_name(*twice)));
}

Value parse_map(Value& value) {
  List* const entries = value.get<List>();
  if (entries == nullptr) throw malformed("json.form", "a list of pairs expected");
  Map map;
  for (Value& entry : *entries) {
    List* const pair = entry.get<List>();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr)
      throw malformed("json.form", "a pair of key and value expected");
    map.append(std::move(*(*pair)[0].get<std::string>()), std::move((*pair)[1]));
  }
  refuse_duplicates(map);
  return map;
}

// An object with one key that starts with "$" is one of our spellings.
Value finish(Map map) {
  if (map.size() != 1 || !map.begin()->first.starts_with('$')) {
    refuse_duplicates(map);
    return map;
  }
  auto& [key, value] = *map.begin();
  if (key == "$bytes") return from_hex(value);
  if (key == "$text") return text_of(from_hex(value));
  if (key == "$f64") return parse_f64(value);
  if (key == "$map") return parse_map(value);
  if (key == "$opaque") {
    const List* const parts = value.get<List>();
    if (parts == nullptr || parts->size() != 2 || (*parts)[0].text() == nullptr)
      throw malformed("json.form", "a syntax and its hex digits expected");
    // Only the syntaxes that values come from: the word is shown to people and goes into content digests.
    if (*(*parts)[0].text() != "cbor")
      throw malformed("json.form", fmt::format("\"{}\" is not a syntax that values are kept in", *(*parts)[0].text()));
    return Opaque{*(*parts)[0].text(), from_hex((*parts)[1])};
  }
  throw malformed("json.form", fmt::format("\"{}\" is no known spelling", escape_name(key)));
}

// Builds the value as the parser meets it: no tree of the parser's own, and no recursion.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(TreeBounds& bounds, std::size_t size) : bounds_(bounds), size_(size) {}
  Value take() { return std::move(root_); }

  bool null() override { return add(Value()); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(number_integer_t v) override { return add(std::int64_t{v}); }
  bool number_unsigned(number_unsigned_t v) override { return add(std::uint64_t{v}); }
  bool number_float(number_float_t v, const string_t&) override { return add(v); }
  bool string(string_t& v) override { return add(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return push(Map()); }
  bool start_array(std::size_t) override { return push(List()); }
  bool key(string_t& v) override {
    open_.back().key = std::move(v);
    return true;
  }
  bool end_object() override {
    Value value = finish(std::move(*open_.back().value.get<Map>()));
    open_.pop_back();
    return add(std::move(value));
  }
  bool end_array() override {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }
  // `position` counts from 1.
  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    throw malformed("json.syntax", position > size_ ? fmt::format("not JSON: it ends too early, at byte {}", size_)
                                                    : fmt::format("not JSON at byte {}", position - 1));
  }

 private:
  struct Open {
    Value value;
    std::string key;  // of the entry being read
  };

  bool push(Value value) {
    if (open_.size() >= bounds_.depth)
      throw malformed("json.depth", fmt::format("nested more than {} deep", bounds_.depth));
    open_.push_back({std::move(value), {}});
    return true;
  }

  bool add(Value value) {
    // A value in memory is many times its smallest spelling, and a compressed text costs next to nothing.
    if (bounds_.values == 0)
      throw Error(ErrorKind::limit, "json.values", "more metadata values than a file of this size may have");
    --bounds_.values;
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Map* const map = open_.back().value.get<Map>()) {
      map->append(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().value.get<List>()->push_back(std::move(value));
    }
    return true;
  }

  TreeBounds& bounds_;
  std::size_t size_;  // of the text
  std::vector<Open> open_;
  Value root_;
};

}  // namespace

std::string write_value_json(const Value& value) { return write_json(value, {.exact = true}); }

Value parse_value_json(std::string_view text, TreeBounds& bounds) {
  Builder builder(bounds, text.size());
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tare::wire
