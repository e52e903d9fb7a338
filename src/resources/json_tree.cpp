#include "resources/json_tree.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/text.hpp"

namespace tare::resources {
namespace {

// The code point at the front of UTF-8 that is known to be valid.
std::uint32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  std::uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(length);
  return code;
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::uint32_t code = take_code_point(text);
    if (code == '"' || code == '\\')
      out += {'\\', static_cast<char>(code)};
    else if (code == '\n')
      out += "\\n";
    else if (code >= 0x20 && code < 0x7F)
      out += static_cast<char>(code);
    else if (code < 0x10000)
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    else
      fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
  }
  out += '"';
}

void append(std::string& out, const Json& json) {
  if (json.is_string()) {
    append_text(out, json.text());
  } else if (json.is_array()) {
    out += '[';
    for (const Json& item : json) {
      if (&item != json.begin()) out += ',';
      append(out, item);
    }
    out += ']';
  } else if (json.is_object()) {
    out += '{';
    for (const auto& [key, value] : json.items()) {
      if (&value != json.begin()) out += ',';
      append_text(out, key);
      out += ':';
      append(out, value);
    }
    out += '}';
  } else if (json.is_number_float()) {
    out += float_text(json.get<double>());
  } else if (json.is_number_unsigned()) {
    out += fmt::format("{}", json.get<std::uint64_t>());
  } else if (json.is_number()) {
    out += fmt::format("{}", json.get<std::int64_t>());
  } else {
    out += json.is_null() ? "null" : json.get<bool>() ? "true" : "false";
  }
}

// Builds the tree as the parser meets it, without recursion.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool v) override { return add(Json(v)); }
  bool number_integer(number_integer_t v) override { return add(Json(std::int64_t{v})); }
  bool number_unsigned(number_unsigned_t v) override { return add(Json(std::uint64_t{v})); }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return add(Json(v)); }
  bool string(string_t& v) override { return add(Json(std::move(v))); }
  bool binary(binary_t& /*v*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(true); }
  bool start_array(std::size_t /*size*/) override { return open(false); }
  bool key(string_t& v) override {
    open_.back().entries.emplace_back(std::move(v), Json());
    return true;
  }
  bool end_object() override {
    Json object(std::move(open_.back().entries));
    open_.pop_back();
    return add(std::move(object));
  }
  bool end_array() override {
    Json array(std::move(open_.back().items));
    open_.pop_back();
    return add(std::move(array));
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& error) override {
    // As what it is: where it happened is known to this kind only.
    if (const auto* const parse_error = dynamic_cast<const nlohmann::json::parse_error*>(&error)) throw *parse_error;
    throw error;
  }

 private:
  struct Open {
    bool is_object;
    std::vector<Json::Entry> entries;
    Json::Array items;
  };

  bool open(bool is_object) {
    open_.push_back({is_object, {}, {}});
    return true;
  }
  bool add(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().is_object)
      open_.back().entries.back().second = std::move(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }

  std::vector<Open> open_;
  Json root_;
};

}  // namespace

Json::Json(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.first < b.first; });
  auto object = std::make_unique<Object>();
  for (Entry& entry : entries) {
    if (!object->keys.empty() && object->keys.back() == entry.first) {
      object->values.back() = std::move(entry.second);
      continue;
    }
    object->keys.push_back(std::move(entry.first));
    object->values.push_back(std::move(entry.second));
  }
  data_ = std::move(object);
}

const Json* Json::items_begin() const {
  if (const Array* const array = pointed<Array>()) return array->data();
  const Object* const object = pointed<Object>();
  return object == nullptr ? nullptr : object->values.data();
}

std::size_t Json::size() const {
  if (const Array* const array = pointed<Array>()) return array->size();
  const Object* const object = pointed<Object>();
  return object == nullptr ? 0 : object->values.size();
}

const Json* Json::find(std::string_view key) const {
  const Object* const object = pointed<Object>();
  if (object == nullptr) return end();
  const auto found = std::lower_bound(object->keys.begin(), object->keys.end(), key);
  if (found == object->keys.end() || *found != key) return end();
  return begin() + (found - object->keys.begin());
}

Json::Items Json::items() const {
  const Object* const object = pointed<Object>();
  if (object == nullptr) return {nullptr, nullptr, nullptr};
  return {object->keys.data(), begin(), end()};
}

std::string Json::dump() const {
  std::string out;
  append(out, *this);
  return out;
}

Json parse_json_tree(std::string_view text) {
  Builder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace tare::resources
