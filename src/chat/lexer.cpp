#include "chat/lexer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "chat/characters.hpp"

namespace tare::chat {
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 20;  // bytes; the longest known template has 30,000
constexpr std::size_t kMostTokens = 200'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return begins_name(c) || is_digit(c); }

// Line feeds only, and none at the end.
std::string unified(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text += source[i];
    }
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : text_(source) {}

  std::vector<TemplateToken> run() {
    while (at_ < text_.size()) read_outside();
    add(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  // ---- places ----

  Place place_at(std::size_t at) {
    for (; counted_ < at; ++counted_) {
      if (text_[counted_] == '\n')
        ++place_.line, place_.column = 1;
      else if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80)
        ++place_.column;
    }
    return place_;
  }
  void add(TokenKind kind, std::string text) {
    if (tokens_.size() == kMostTokens) throw too_much(place_at(at_), "it has too many words");
    tokens_.push_back({kind, place_at(at_), std::move(text)});
  }

  // ---- outside of tags ----

  // Text up to the next tag, then the beginning of that tag.
  void read_outside() {
    const std::size_t begin = at_;
    std::size_t brace = text_.find('{', at_);
    while (brace != text_.npos && brace + 1 < text_.size() && text_[brace + 1] != '{' && text_[brace + 1] != '%' &&
           text_[brace + 1] != '#')
      brace = text_.find('{', brace + 1);
    if (brace == text_.npos || brace + 1 >= text_.size()) {
      add(TokenKind::text, std::string(text_.substr(begin)));
      at_ = text_.size();
      return;
    }
    const char kind = text_[brace + 1];
    const char sign = brace + 2 < text_.size() ? text_[brace + 2] : ' ';
    const bool has_sign = sign == '-' || sign == '+';
    const std::string_view before = trimmed_before(text_.substr(begin, brace - begin), kind, has_sign ? sign : ' ');
    if (!before.empty()) add(TokenKind::text, std::string(before));
    at_ = brace;
    if (kind == '%' && read_raw(brace + (has_sign ? 3 : 2))) return;
    if (kind != '#') add(kind == '{' ? TokenKind::output_begin : TokenKind::tag_begin, {});
    at_ = brace + (has_sign ? 3 : 2);
    line_begins_ = false;
    if (kind == '#')
      skip_comment(brace);
    else
      read_inside(kind);
  }

  std::string_view trimmed_before(std::string_view text, char kind, char sign) const {
    if (sign == '-') return without_spaces_behind(text);
    if (sign == '+' || kind == '{') return text;
    const std::size_t feed = text.rfind('\n');
    const std::size_t line = feed == text.npos ? 0 : feed + 1;
    if (line == 0 && !line_begins_) return text;
    return without_spaces_before(text.substr(line)).empty() ? text.substr(0, line) : text;
  }

  // The end of a tag or comment: "-%}", "+%}", "%}" with what they remove. False: it is not here.
  bool skip_end(char kind, char last) {
    const bool minus = text_[at_] == '-', plus = text_[at_] == '+' && kind != '}';
    const std::size_t first = at_ + (minus || plus ? 1 : 0);
    if (first + 1 >= text_.size() || text_[first] != kind || text_[first + 1] != last) return false;
    at_ = first + 2;
    if (minus) {
      const std::string_view rest = without_spaces_before(text_.substr(at_));
      at_ = text_.size() - rest.size();
    } else if (!plus && kind != '}' && at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
    }
    line_begins_ = text_[at_ - 1] == '\n';
    return true;
  }

  void skip_comment(std::size_t begin) {
    for (; at_ < text_.size(); ++at_)
      if (skip_end('#', '}')) return;
    throw broken_syntax(place_at(begin), "a comment has no end");
  }

  std::size_t after_spaces(std::size_t at) const {
    return text_.size() - without_spaces_before(text_.substr(std::min(at, text_.size()))).size();
  }
  bool is_word(std::size_t at, std::string_view word) const {
    return text_.substr(at).starts_with(word) &&
           (at + word.size() >= text_.size() || !in_name(text_[at + word.size()]));
  }

  // {% raw %} ... {% endraw %}: the text between them, without a look inside.
  bool read_raw(std::size_t at) {
    const std::size_t begin = at_;
    at = after_spaces(at);
    if (!is_word(at, "raw")) return false;
    at = after_spaces(at + 3);
    const bool minus = text_.substr(at).starts_with("-%}");
    if (!minus && !text_.substr(at).starts_with("%}")) return false;
    at += minus ? 3 : 2;
    if (minus) at = after_spaces(at);
    line_begins_ = text_[at - 1] == '\n';
    for (std::size_t tag = text_.find("{%", at); tag != text_.npos; tag = text_.find("{%", tag + 2)) {
      const char sign = tag + 2 < text_.size() ? text_[tag + 2] : ' ';
      const bool has_sign = sign == '-' || sign == '+';
      const std::size_t word = after_spaces(tag + (has_sign ? 3 : 2));
      if (!is_word(word, "endraw")) continue;
      const std::size_t before = at_;
      at_ = after_spaces(word + 6);
      const bool was = line_begins_;
      if (at_ >= text_.size() || !skip_end('%', '}')) {
        at_ = before, line_begins_ = was;
        continue;
      }
      const std::size_t next = at_;
      const bool begins = line_begins_;
      line_begins_ = was;
      const std::string_view text = trimmed_before(text_.substr(at, tag - at), '%', has_sign ? sign : ' ');
      at_ = at;
      if (!text.empty()) add(TokenKind::text, std::string(text));
      at_ = next, line_begins_ = begins;
      return true;
    }
    throw broken_syntax(place_at(begin), "raw has no endraw");
  }

  // ---- inside of tags ----

  void read_inside(char kind) {
    const std::size_t begin = at_;
    std::string open;  // brackets that are open
    for (;;) {
      at_ = after_spaces(at_);
      if (at_ >= text_.size()) throw broken_syntax(place_at(begin), "a tag has no end");
      const std::size_t here = at_;
      const Place place = place_at(here);
      if (open.empty() && skip_end(kind == '{' ? '}' : '%', '}')) {
        tokens_.push_back({kind == '{' ? TokenKind::output_end : TokenKind::tag_end, place, {}});
        return;
      }
      read_word(open);
    }
  }

  void read_word(std::string& open) {
    const char c = text_[at_];
    if (is_digit(c)) return read_number();
    if (c == '"' || c == '\'') return read_string(c);
    if (begins_name(c)) {
      std::size_t end = at_;
      while (end < text_.size() && in_name(text_[end])) ++end;
      const std::size_t count = end - at_;
      add(TokenKind::name, std::string(text_.substr(at_, count)));
      at_ += count;
      return;
    }
    for (const std::string_view sign : {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
                                        ">",  "=",  ".",  ":",  "|",  ",",  "(", ")", "[", "]", "{", "}"}) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      balance(sign, open);
      add(TokenKind::sign, std::string(sign));
      at_ += sign.size();
      return;
    }
    throw broken_syntax(place_at(at_), fmt::format("expected a word or an operator, found '{}'",
                                                   quote(text_.substr(at_, character_at(text_.substr(at_)).length))));
  }

  void balance(std::string_view sign, std::string& open) {
    if (sign == "(" || sign == "[" || sign == "{") {
      open += sign == "(" ? ')' : sign == "[" ? ']' : '}';
    } else if (sign == ")" || sign == "]" || sign == "}") {
      if (open.empty() || open.back() != sign[0])
        throw broken_syntax(place_at(at_), open.empty() ? fmt::format("'{}' closes nothing", sign)
                                                        : fmt::format("expected '{}', found '{}'", open.back(), sign));
      open.pop_back();
    }
  }

  void read_number() {
    std::size_t end = at_;
    const auto skip_digits = [&] {
      const std::size_t first = end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
      return end > first;
    };
    skip_digits();
    bool real = false;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      real = true;
      ++end;
      skip_digits();
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const std::size_t before = end++;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      if (skip_digits())
        real = true;
      else
        end = before;
    }
    const std::string number(text_.substr(at_, end - at_));
    if ((end < text_.size() && in_name(text_[end])) || (!real && number.size() > 1 && number[0] == '0'))
      throw not_known(place_at(at_), "numbers are supported in decimal digits only");
    add(real ? TokenKind::real : TokenKind::integer, number);
    at_ = end;
  }

  // ---- strings ----

  static int hex_digit(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }

  void read_string(char mark) {
    const std::size_t begin = at_;
    std::string value;
    std::size_t i = at_ + 1;
    for (;; ++i) {
      if (i >= text_.size()) throw broken_syntax(place_at(begin), "a string has no end");
      if (text_[i] == mark) break;
      if (text_[i] != '\\')
        value += text_[i];
      else
        i = read_escape(i, value);
    }
    add(TokenKind::string, std::move(value));
    at_ = i + 1;
  }

  // As Python reads "\n" and the like; `i` is the place of the backslash. Returns that of the last character.
  std::size_t read_escape(std::size_t i, std::string& value) {
    if (i + 1 >= text_.size()) throw broken_syntax(place_at(at_), "a string has no end");
    const char c = text_[i + 1];
    constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
    if (const std::size_t found = kLetters.find(c); found != kLetters.npos) {
      value += kMeanings[found];
    } else if (c >= '0' && c <= '7') {
      std::uint32_t number = 0;
      std::size_t k = i + 1;
      for (; k < text_.size() && k < i + 4 && text_[k] >= '0' && text_[k] <= '7'; ++k)
        number = number * 8 + static_cast<std::uint32_t>(text_[k] - '0');
      add_character(value, number);
      return k - 1;
    } else if (c == 'x' || c == 'u' || c == 'U') {
      return read_code(i, c == 'x' ? 2 : c == 'u' ? 4 : 8, value);
    } else if (c == 'N') {
      throw not_known(place_at(at_), "characters by their names (\\N) are not supported");
    } else if (c != '\n') {  // a backslash before a line feed removes both; before any other character, both stay
      value += '\\';
      value += c;
    }
    return i + 1;
  }

  std::size_t read_code(std::size_t i, std::size_t digits, std::string& value) {
    std::uint32_t number = 0;
    for (std::size_t k = i + 2; k < i + 2 + digits; ++k) {
      const int digit = k < text_.size() ? hex_digit(text_[k]) : -1;
      if (digit < 0) throw broken_syntax(place_at(at_), fmt::format("expected {} hexadecimal digits", digits));
      number = number * 16 + static_cast<std::uint32_t>(digit);
    }
    if (number > 0x10FFFF || (number >= 0xD800 && number < 0xE000))
      throw broken_syntax(place_at(at_), fmt::format("U+{:04X} is not a character", number));
    add_character(value, number);
    return i + 1 + digits;
  }

  std::string_view text_;
  std::size_t at_ = 0, counted_ = 0;
  Place place_;
  bool line_begins_ = true;  // what follows is at the beginning of a line
  std::vector<TemplateToken> tokens_;
};

}  // namespace

std::vector<TemplateToken> tokens_of_template(std::string_view source) {
  if (source.size() > kLongest)
    throw too_much({}, fmt::format("it has {} bytes, at most {} are read", source.size(), kLongest));
  const std::string text = unified(as_valid(source));
  return Lexer(text).run();
}

}  // namespace tare::chat
