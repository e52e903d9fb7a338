// Reads the header in one pass, in the form that all common writers use:
//
//   {"__metadata__":{...},"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}   and white space
//
// No space inside, fields in this order, no escapes in names, data in the order of the entries. Anything else is left
// to the full parser (header.cpp), which handles all of JSON and all errors.
#include <cstring>

#include "base/text.hpp"
#include "formats/safetensors/json.hpp"
#include "formats/safetensors/place.hpp"
#include "formats/safetensors/safetensors.hpp"
#include "wire/cbor.hpp"

namespace tare::safetensors {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  std::uint64_t offset() const { return 8 + static_cast<std::uint64_t>(at_ - begin_); }

  template <std::size_t N>
  bool take(const char (&literal)[N]) {
    constexpr std::size_t kLength = N - 1;
    if (static_cast<std::size_t>(end_ - at_) < kLength || std::memcmp(at_, literal, kLength) != 0) return false;
    at_ += kLength;
    return true;
  }

  // Reads the rest of a string and its closing quote; false if it has escapes or control characters.
  bool string(std::string_view& out) {
    const auto* const quote = static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
    if (quote == nullptr) return false;
    out = {at_, static_cast<std::size_t>(quote - at_)};
    at_ = quote + 1;
    unsigned bad = 0;
    for (const char c : out) bad |= static_cast<unsigned>(static_cast<unsigned char>(c) < 0x20 || c == '\\');
    return bad == 0;
  }

  bool number(std::uint64_t& out) {
    constexpr int kSafeDigits = 19;
    const char* const first = at_;
    std::uint64_t value = 0;
    while (at_ < end_ && at_ - first <= kSafeDigits) {
      const unsigned digit = static_cast<unsigned char>(*at_) - unsigned{'0'};
      if (digit > 9) break;
      value = value * 10 + digit;
      ++at_;
    }
    out = value;
    const auto digits = at_ - first;
    return digits > 0 && digits <= kSafeDigits && (digits == 1 || *first != '0');
  }

  // Skips the object that starts here; false if it does not end.
  bool skip_object() {
    unsigned depth = 0;
    for (bool inside = false; at_ < end_; ++at_) {
      const char c = *at_;
      if (inside) {
        if (c == '\\')
          ++at_;
        else if (c == '"')
          inside = false;
      } else if (c == '"') {
        inside = true;
      } else if (c == '{') {
        ++depth;
      } else if (c == '}' && --depth == 0) {
        ++at_;
        return true;
      }
    }
    return false;
  }

  bool only_space_left() const {
    for (const char* p = at_; p < end_; ++p)
      if (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r') return false;
    return true;
  }

 private:
  const char *begin_, *at_, *end_;
};

// Metadata often has escapes, so its few bytes are given to the full parser.
bool read_metadata(std::string_view object, const std::string& file, Map& metadata) {
  std::string text = "{\"" + std::string(kMetadataKey) + "\":" + std::string(object) + "}";
  const std::size_t length = text.size();
  text.resize(length + Json::kPadding, '\0');
  Diagnostics throwing;
  const SourcePtr nothing = borrow_memory({}, file);
  Placer placer(nothing, 0, throwing);
  try {
    parse_header(std::string_view(text).substr(0, length), file, placer, metadata, throwing);
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool scan_entry(Scanner& scanner, std::string_view name, std::uint64_t at, Placer& placer, const HeaderType*& last) {
  std::string_view dtype;
  if (!scanner.take(":{\"dtype\":\"") || !scanner.string(dtype) || !scanner.take(",\"shape\":[")) return false;
  Tensor& tensor = placer.begin(name, at);
  std::uint64_t number = 0, begin = 0, end = 0;
  if (!scanner.take("]")) {
    do {
      if (!scanner.number(number) || tensor.shape.rank() == placer.max_rank()) return false;
      tensor.shape.push_back(number);
    } while (scanner.take(","));
    if (!scanner.take("]")) return false;
  }
  if (!scanner.take(",\"data_offsets\":[") || !scanner.number(begin) || !scanner.take(",") || !scanner.number(end) ||
      !scanner.take("]}"))
    return false;
  // Consecutive tensors mostly have the same type.
  if (last == nullptr || dtype != last->name) last = find_type(dtype);
  if (last == nullptr) return false;
  placer.finish(*last, begin, end);
  return placer.sound();
}

}  // namespace

bool scan_header(std::string_view text, const std::string& file, Placer& placer, Map& metadata) {
  Scanner scanner(text);
  if (!scanner.take("{")) return false;
  const HeaderType* last = nullptr;
  wire::KeyCheck names;
  bool described = false;
  if (!scanner.take("}")) {
    do {
      const std::uint64_t at = scanner.offset();
      std::string_view name;
      if (!scanner.take("\"") || !scanner.string(name)) return false;
      if (name == kMetadataKey) {
        if (described || !scanner.take(":")) return false;
        described = true;
        const std::uint64_t start = scanner.offset() - 8;
        if (!scanner.skip_object()) return false;
        const auto object = text.substr(static_cast<std::size_t>(start), scanner.offset() - 8 - start);
        if (!object.starts_with('{') || !read_metadata(object, file, metadata)) return false;
        continue;
      }
      if (!scan_entry(scanner, name, at, placer, last)) return false;
      names.add(name);
    } while (scanner.take(","));
    if (!scanner.take("}")) return false;
  }
  if (!scanner.only_space_left() || !placer.complete() || !is_valid_utf8(text)) return false;
  return names.find_duplicate().data() == nullptr;
}

}  // namespace tare::safetensors
