// simdjson's on-demand parser with our errors, for the header and the index of safetensors.
//
// Every value must be consumed by exactly one call, in order. Errors have the rule FAMILY.json, .utf8, .root, .trailing
// or .depth, and the byte offset if it is known.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/simdjson.hpp"
#include "tare/error.hpp"

namespace tare::safetensors {

class Json {
 public:
  using Value = simdjson::ondemand::value;
  using Type = simdjson::ondemand::json_type;

  // kPadding bytes after `text` must be readable, and the bytes must not change while this exists, so `text` cannot be
  // a mapped file. `base`: the offset of the text in the file.
  static constexpr std::size_t kPadding = simdjson::SIMDJSON_PADDING;
  Json(std::string_view text, const std::string& file, std::uint64_t base, std::string_view family);

  simdjson::ondemand::object root();
  // Throws unless only white space follows the root.
  void expect_end();

  // Calls visit(key, start of the key, value) for each field. The key is unescaped and valid as long as the text and
  // this object.
  template <typename Visit>
  void each_field(simdjson::ondemand::object object, const Visit& visit) {
    for (auto result : object) {
      simdjson::ondemand::field field;
      check(std::move(result).get(field));
      const char* const raw = field.key().raw();
      std::string_view key(raw, length_of(raw));
      if (raw[key.size()] == '\\') key = unescaped(field.key());
      visit(key, raw - 1, field.value());
    }
  }
  template <typename Visit>
  void each_item(simdjson::ondemand::array array, const Visit& visit) {
    for (auto result : array) {
      check(result.error());
      Value item = result.value_unsafe();
      visit(item);
    }
  }

  Type type_of(Value& value) {
    Type type{};
    check(value.type().get(type));
    // simdjson 4 has one type more, for what begins like no value; older ones report this error instead.
    if (type != Type::object && type != Type::array && type != Type::string && type != Type::number &&
        type != Type::boolean && type != Type::null)
      fail(simdjson::TAPE_ERROR);
    return type;
  }
  simdjson::ondemand::object object(Value& value) {
    simdjson::ondemand::object object;
    check(value.get_object().get(object));
    return object;
  }
  simdjson::ondemand::array array(Value& value) {
    simdjson::ondemand::array array;
    check(value.get_array().get(array));
    return array;
  }
  // Returns the unescaped string, valid as long as the text and this object.
  std::string_view string(Value& value) {
    const char* const raw = value.raw_json_token().data() + 1;
    const std::size_t length = length_of(raw);
    simdjson::ondemand::raw_json_string consumed;
    check(value.get_raw_json_string().get(consumed));
    return raw[length] == '\\' ? unescaped(consumed) : std::string_view(raw, length);
  }
  // Consumes a value that is not needed, and checks that it is JSON. `depth`: the number of levels above it.
  void walk(Value value, unsigned depth);

  // Returns the text from `begin` to the current position: the value that began there and was consumed last.
  std::string_view text_since(const char* begin) {
    return text_.substr(static_cast<std::size_t>(begin - text_.data()), (here() - offset_of(begin)));
  }

  std::uint64_t offset_of(const char* place) const { return base_ + static_cast<std::uint64_t>(place - text_.data()); }
  // Returns the offset of the quote before a key; nothing for a key with escapes, which is a copy.
  std::optional<std::uint64_t> offset_of_key(std::string_view key) const;

 private:
  // Returns the length up to the closing quote or the first backslash.
  std::size_t length_of(const char* raw) const {
    const auto left = static_cast<std::size_t>(text_.data() + text_.size() - raw);
    const auto* const quote = static_cast<const char*>(std::memchr(raw, '"', left));
    const auto length = quote == nullptr ? left : static_cast<std::size_t>(quote - raw);
    const auto* const escape = static_cast<const char*>(std::memchr(raw, '\\', length));
    return escape == nullptr ? length : static_cast<std::size_t>(escape - raw);
  }
  // Unescapes into memory of our own, because simdjson does not check its allocation. Also rejects a lone low
  // surrogate, which simdjson turns into bytes that are not UTF-8.
  std::string_view unescaped(simdjson::ondemand::raw_json_string raw);

  void check(simdjson::error_code code) {
    if (code != simdjson::SUCCESS) fail(code);
  }
  [[noreturn]] void fail(simdjson::error_code code);
  [[noreturn]] void fail(std::string_view rule, std::string_view sentence, std::uint64_t at) const;
  [[noreturn]] void fail_trailing(std::size_t at) const;
  // The current offset of the parser.
  std::uint64_t here();

  std::string_view text_;
  const std::string& file_;
  std::uint64_t base_;
  std::string_view family_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  std::unique_ptr<std::uint8_t[]> unescaped_;  // as large as all strings together; null until one has an escape
  std::uint8_t* free_ = nullptr;               // the unused part of it
};

}  // namespace tare::safetensors
