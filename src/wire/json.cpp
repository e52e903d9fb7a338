#include "wire/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::wire {
namespace {

constexpr std::size_t kMostShown = 20;  // bytes of the text that an error message quotes

// The characters that end a plain run inside a string: the quote, an escape, and control characters.
constexpr std::array<bool, 256> kEndsRun = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c < 0x20; ++c) ends[c] = true;
  ends['"'] = ends['\\'] = true;
  return ends;
}();

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_of_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '+' ||
         c == '-';
}

// Whether the absolute value of a JSON number is less than 1.
bool is_below_one(std::string_view number) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // more digits than any text has
  const std::size_t mantissa = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), mantissa);
  const std::size_t first = number.find_first_of("123456789");
  if (first >= mantissa) return true;
  std::int64_t exponent = 0;
  if (mantissa < number.size()) {
    std::string_view digits = number.substr(mantissa + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec != std::errc())
      exponent = digits.starts_with('-') ? -kMost : kMost;
    exponent = std::clamp(exponent, -kMost, kMost);
  }
  const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return exponent + (places > 0 ? places - 1 : places) < 0;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xF0u << (3 - more) & 0xFFu) | code >> (6 * more));
  for (unsigned i = more; i-- > 0;) out += static_cast<char>(0x80u | (code >> (6 * i) & 0x3Fu));
}

// Builds the tree without recursion, so that the caller limits the depth, not the stack.
class JsonReader {
 public:
  JsonReader(std::string_view text, TreeBounds& bounds, const JsonOptions& options)
      : text_(text), bounds_(bounds), options_(options) {}

  Value read() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    Value value;
    do {
      while (!begin_value(value)) continue;
    } while (!place(value));
    return value;
  }

 private:
  struct Open {
    bool is_object;
    Value value;
    std::string key;  // key of the entry that is being read

    char bracket() const { return is_object ? '}' : ']'; }
  };

  // ---- structure

  // The next character that is not white space; 0 at the end.
  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  // Returns false if the value is a list or object, which is now open, and its first value follows.
  bool begin_value(Value& value) {
    const char c = next();
    if (c != '{' && c != '[') {
      value = read_scalar(c);
      return true;
    }
    if (open_.size() >= bounds_.depth)
      throw Error(ErrorKind::corrupt, "json.depth", fmt::format("nested more than {} deep", bounds_.depth)).at(at_);
    open_.push_back({c == '{', c == '{' ? Value(Map()) : Value(List()), {}});
    ++at_;
    if (next() == open_.back().bracket()) {
      value = close();
      return true;
    }
    if (c == '{') read_key();
    return false;
  }

  // Adds a value to the innermost open container, and closes those that are complete. Returns true at the end of the
  // text.
  bool place(Value& value) {
    for (;;) {
      // A value in memory is many times larger than its smallest spelling, and compressed text costs next to nothing.
      if (bounds_.values == 0)
        throw Error(ErrorKind::limit, "json.values", "more values than are expected here").at(at_);
      --bounds_.values;
      charge(1);
      if (open_.empty()) {
        next();
        if (at_ < text_.size()) fail_expected("the end");
        return true;
      }
      add(std::move(value));
      const char c = next();
      if (c == ',') {
        ++at_;
        if (open_.back().is_object) read_key();
        return false;
      }
      if (c != open_.back().bracket()) fail_expected(open_.back().is_object ? "\",\" or \"}\"" : "\",\" or \"]\"");
      value = close();
    }
  }

  void charge(std::uint64_t values) const {
    try {
      charge_values(values);
    } catch (Error& error) {
      throw error.at(at_);
    }
  }

  void add(Value value) {
    Open& open = open_.back();
    if (!open.is_object) {
      open.value.get<List>()->push_back(std::move(value));
      return;
    }
    Map& map = *open.value.get<Map>();
    Value* const earlier = options_.last_key_counts ? map.find(open.key) : nullptr;
    if (earlier != nullptr)
      *earlier = std::move(value);
    else
      map.append(std::move(open.key), std::move(value));
  }

  Value close() {
    ++at_;
    Value value = std::move(open_.back().value);
    open_.pop_back();
    Map* const object = options_.finish == nullptr ? nullptr : value.get<Map>();
    return object == nullptr ? std::move(value) : options_.finish(std::move(*object));
  }

  void read_key() {
    if (next() != '"') fail_expected("a key");
    const std::size_t begin = at_;
    Open& open = open_.back();
    open.key = read_string();
    charge(kKeyPrice);
    if (!options_.last_key_counts && open.value.get<Map>()->find(open.key) != nullptr)
      throw Error(ErrorKind::corrupt, "json.duplicate", fmt::format("the key \"{}\" appears twice", quote(open.key)))
          .at(begin);
    if (next() != ':') fail_expected("\":\"");
    ++at_;
  }

  // ---- scalars

  Value read_scalar(char first) {
    if (first == '"') return read_string();
    std::size_t end = at_;
    while (end < text_.size() && is_of_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    const bool is_null =
        word == "null" || (options_.python_words && (word == "NaN" || word == "Infinity" || word == "-Infinity"));
    const bool is_boolean = word == "true" || word == "false";
    const bool is_number = !is_null && (first == '-' || is_digit(first));
    if (!is_null && !is_boolean && !is_number) fail_expected("a value");
    Value value = is_number ? read_number(word) : is_boolean ? Value(word == "true") : Value();
    at_ = end;
    return value;
  }

  Value read_number(std::string_view word) const {
    bool is_whole = false;
    if (!is_well_formed(word, is_whole)) fail(at_, fmt::format("\"{}\" is not a number", word.substr(0, kMostShown)));
    const char *const begin = word.data(), *const end = begin + word.size();
    if (is_whole) {
      std::int64_t number = 0;
      if (std::from_chars(begin, end, number).ec == std::errc()) return number;
      std::uint64_t large = 0;
      if (*begin != '-' && std::from_chars(begin, end, large).ec == std::errc()) return large;
    }
    double number = 0;
    const std::errc error = std::from_chars(begin, end, number).ec;
    if (error == std::errc() && std::isfinite(number)) return number;
    // from_chars does not report which end of the range was exceeded.
    if (is_below_one(word)) return *begin == '-' ? -0.0 : 0.0;
    fail(at_, fmt::format("the number {}{} is too large", word.substr(0, kMostShown),
                          word.size() > kMostShown ? "..." : ""));
  }

  static bool is_well_formed(std::string_view word, bool& is_whole) {
    const auto take = [&](std::string_view any) {
      const bool found = !word.empty() && any.find(word.front()) != any.npos;
      if (found) word.remove_prefix(1);
      return found;
    };
    const auto take_digits = [&] {
      const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
      word.remove_prefix(count);
      return count > 0;
    };
    take("-");
    if (!take("0") && !take_digits()) return false;
    is_whole = word.empty();
    if (take(".") && !take_digits()) return false;
    if (take("eE")) {
      take("+-");
      if (!take_digits()) return false;
    }
    return word.empty();
  }

  // ---- strings

  // Begins at the opening quote.
  std::string read_string() {
    const std::size_t begin = ++at_;
    std::string out;
    for (;;) {
      const std::size_t run = at_;
      while (at_ < text_.size() && !kEndsRun[static_cast<unsigned char>(text_[at_])]) ++at_;
      out.append(text_, run, at_ - run);
      if (at_ == text_.size()) fail(at_, "it ends too early, inside a string");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\')
        fail(at_, fmt::format("a string contains the control character 0x{:02X}", static_cast<unsigned>(text_[at_])));
      read_escape(out);
    }
    check_utf8(begin, at_++);
    return out;
  }

  void read_escape(std::string& out) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u') return read_code_unit(out);
    const std::size_t which = kEscapes.find(c);
    if (which == kEscapes.npos) {
      if (at_ + 1 >= text_.size()) fail(text_.size(), "it ends too early, inside a string");
      fail(at_, fmt::format("a string contains {}, which is not an escape", spelled(at_, 2)));
    }
    out += kMeanings[which];
    at_ += 2;
  }

  // Reads \uNNNN, or two of them for a surrogate pair.
  void read_code_unit(std::string& out) {
    const std::size_t begin = at_;
    std::uint32_t code = take_code_unit();
    if (code >= 0xD800 && code < 0xDC00) {
      const bool another = text_.substr(at_).starts_with("\\u");
      const std::uint32_t low = another ? take_code_unit() : 0;
      if (low < 0xDC00 || low > 0xDFFF) fail_half(begin);
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      fail_half(begin);
    }
    append_utf8(out, code);
  }

  std::uint32_t take_code_unit() {
    std::uint32_t unit = 0;
    const std::string_view digits = text_.substr(std::min(at_ + 2, text_.size()), 4);
    if (digits.size() < 4) fail(text_.size(), "it ends too early, inside a string");
    const char* const end = digits.data() + 4;
    if (std::from_chars(digits.data(), end, unit, 16).ptr != end)
      fail(at_, fmt::format("a string contains {}, which is not an escape", spelled(at_, 6)));
    at_ += 6;
    return unit;
  }

  void check_utf8(std::size_t begin, std::size_t end) const {
    const std::string_view string = text_.substr(begin, end - begin);
    if (is_valid_utf8(string)) return;
    std::size_t good = 0;
    for (CodePoint point; point = first_code_point(string.substr(good)), point.valid;) good += point.length;
    fail(begin + good, "a string is not UTF-8");
  }

  // ---- errors

  std::string spelled(std::size_t begin, std::size_t most) const {
    return fmt::format("\"{}\"", text_.substr(begin, most));
  }

  [[noreturn]] void fail(std::size_t at, std::string_view trouble) const {
    throw Error(ErrorKind::corrupt, "json.syntax", fmt::format("not JSON: {}", trouble)).at(at);
  }
  [[noreturn]] void fail_half(std::size_t begin) const {
    fail(begin, fmt::format("a string contains {}, half of a character", spelled(begin, 6)));
  }
  [[noreturn]] void fail_expected(std::string_view what) const {
    if (at_ == text_.size()) fail(at_, fmt::format("it ends too early, where {} was expected", what));
    std::size_t length = 0;
    while (at_ + length < text_.size() && length < kMostShown && is_of_word(text_[at_ + length])) ++length;
    if (length == 0) length = first_code_point(text_.substr(at_)).length;
    fail(at_, fmt::format("expected {}, found {}", what, text_[at_] == '"' ? "a string" : spelled(at_, length)));
  }

  std::string_view text_;
  TreeBounds& bounds_;
  const JsonOptions& options_;
  std::size_t at_ = 0;
  std::vector<Open> open_;
};

}  // namespace

Value read_json(std::string_view text, TreeBounds& bounds, const JsonOptions& options) {
  return JsonReader(text, bounds, options).read();
}

}  // namespace tare::wire
