#include "formats/safetensors/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/text.hpp"
#include "wire/json_edit.hpp"

namespace tare::safetensors {
namespace {

// The reference implementation accepts one level less than its limit of 128.
constexpr unsigned kMaxDepth = 127;

bool is_number(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const auto digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  const auto take = [&](std::string_view any) {
    const bool found = !text.empty() && any.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  take("-");
  const bool zero = text.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (take(".") && digits() == 0) return false;
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return text.empty();
}

// Returns the offset of the first byte that is not UTF-8.
std::size_t find_invalid(std::string_view text) {
  std::size_t good = 0, bad = text.size();
  while (bad - good > 1) {  // a prefix may end inside a character: allow up to three more bytes
    const std::size_t middle = good + (bad - good) / 2;
    bool valid = false;
    for (std::size_t cut = 0; cut < 4 && cut <= middle && !valid; ++cut)
      valid = is_valid_utf8(text.substr(0, middle - cut));
    (valid ? good : bad) = middle;
  }
  return good;
}

}  // namespace

Json::Json(std::string_view text, const std::string& file, std::uint64_t base, std::string_view family)
    : text_(text), file_(file), base_(base), family_(family) {
  // RFC 8259 does not allow a byte-order mark; some versions of simdjson ignore it.
  if (text.starts_with(kByteOrderMark)) fail("root", "expected a JSON object, found a byte-order mark", base);
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kPadding);
  const auto code = [&] {
    const SimdjsonCall call;
    return parser_.iterate(padded).get(document_);
  }();
  if (code != simdjson::SUCCESS) fail(code);
}

simdjson::ondemand::object Json::root() {
  Type type{};
  if (document_.type().get(type) != simdjson::SUCCESS || type != Type::object)
    fail("root", "expected a JSON object", base_ + std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  simdjson::ondemand::object object;
  const auto code = document_.get_object().get(object);
  // simdjson looks for the last brace first, and reports an incomplete object if something follows the object.
  if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT)
    if (const std::size_t end = text_.find_first_not_of(" \t\r\n", wire::json_end(text_, text_.find('{')));
        end != std::string_view::npos)
      fail_trailing(end);
  check(code);
  return object;
}

void Json::expect_end() {
  const char* place = nullptr;
  if (document_.current_location().get(place) == simdjson::OUT_OF_BOUNDS) return;
  fail_trailing(here() - base_);
}

void Json::fail_trailing(std::size_t at) const {
  const bool zeros = at < text_.size() && text_[at] == '\0';
  fail("trailing",
       zeros ? "zero bytes after the JSON object, where only white space is allowed"
             : "something follows the JSON object",
       base_ + at);
}

void Json::walk(Value value, unsigned depth) {
  const Type type = type_of(value);
  if (depth == kMaxDepth && (type == Type::object || type == Type::array))
    fail("depth", fmt::format("nested deeper than {} levels", kMaxDepth), here());
  switch (type) {
    case Type::object:
      each_field(object(value), [&](std::string_view, const char*, Value field) { walk(field, depth + 1); });
      return;
    case Type::array: each_item(array(value), [&](Value item) { walk(item, depth + 1); }); return;
    case Type::string: string(value); return;
    case Type::number: {
      // Accepts any number within the range of a double, however inexact.
      double ignored = 0;
      const std::uint64_t at = here();
      if (!is_number(value.raw_json_token())) fail("json", "malformed number", at);
      if (value.get_double().get(ignored) != simdjson::SUCCESS) fail("json", "a number beyond all types", at);
      return;
    }
    case Type::boolean: {
      bool ignored = false;
      check(value.get_bool().get(ignored));
      return;
    }
    case Type::null: {
      const std::uint64_t at = here();
      bool null = false;
      if (value.is_null().get(null) != simdjson::SUCCESS || !null) fail("json", "malformed value", at);
      return;
    }
    default: return;  // type_of returns no other
  }
}

std::string_view Json::unescaped(simdjson::ondemand::raw_json_string raw) {
  if (unescaped_ == nullptr) {
    unescaped_ = std::make_unique_for_overwrite<std::uint8_t[]>(text_.size() + kPadding);
    free_ = unescaped_.get();
  }
  std::string_view text;
  check(parser_.unescape(raw, free_).get(text));
  if (!is_valid_utf8(text)) fail(simdjson::STRING_ERROR);
  return text;
}

std::optional<std::uint64_t> Json::offset_of_key(std::string_view key) const {
  const std::less<> before;
  const bool in_text = !before(key.data(), text_.data()) && before(key.data(), text_.data() + text_.size());
  return in_text ? std::optional(offset_of(key.data()) - 1) : std::nullopt;
}

std::uint64_t Json::here() {
  const char* place = nullptr;
  if (document_.current_location().get(place) != simdjson::SUCCESS) return base_ + text_.size();
  return base_ + std::min(static_cast<std::uint64_t>(place - text_.data()), std::uint64_t{text_.size()});
}

void Json::fail(std::string_view rule, std::string_view sentence, std::uint64_t at) const {
  throw Error(ErrorKind::corrupt, fmt::format("{}.{}", family_, rule), sentence).in(file_).at(at);
}

void Json::fail(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR: fail("utf8", "not UTF-8", base_ + find_invalid(text_));
    case simdjson::EMPTY: fail("json", "expected a JSON object, found nothing", base_);
    case simdjson::UNCLOSED_STRING: fail("json", "a string is not closed", base_ + text_.size());
    case simdjson::UNESCAPED_CHARS: {
      fail("json", "a string has a control character in it, or is not closed", base_);
    }
    case simdjson::STRING_ERROR: fail("json", "a string has a bad escape", here());
    case simdjson::MEMALLOC: throw std::bad_alloc();
    case simdjson::CAPACITY: throw Error(ErrorKind::limit, fmt::format("{}.large", family_), "too long").in(file_);
    default: fail("json", "this is not JSON", here());
  }
}

}  // namespace tare::safetensors
