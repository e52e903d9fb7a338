// Parses "1:10:2, -1, ..., :" into a SliceSpec.
#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "tare/error.hpp"
#include "tare/slice.hpp"

namespace tare {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  SliceSpec parse() {
    skip_space();
    const bool bracketed = take('[');
    SliceSpec spec;
    bool ellipsis = false;
    do {
      skip_space();
      // Python allows one comma after the last item.
      if (!spec.empty() && (at_ == text_.size() || text_[at_] == ']')) break;
      spec.push_back(item());
      if (spec.back().kind == SliceItem::Kind::ellipsis) {
        if (ellipsis) fail("only one \"...\" is allowed");
        ellipsis = true;
      }
      skip_space();
    } while (take(','));
    if (bracketed && !take(']')) fail("expected \",\" or \"]\"");
    skip_space();
    if (at_ != text_.size()) fail("expected \",\"");
    return spec;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw Error(ErrorKind::usage, "slice.syntax",
                fmt::format("the slice \"{}\" is invalid at character {}: {}", text_, at_ + 1, expected));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  // Nothing if there is no number here. A number beyond 64 bits becomes the largest: no axis is that long.
  std::optional<std::int64_t> number() {
    skip_space();
    const bool negative = take('-');
    const bool is_signed = negative || take('+');
    const char* const begin = text_.data() + at_;
    std::uint64_t magnitude = 0;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), magnitude);
    if (parsed.ptr == begin) {
      if (is_signed) fail("expected a number");
      return std::nullopt;
    }
    at_ += static_cast<std::size_t>(parsed.ptr - begin);
    skip_space();
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (parsed.ec == std::errc::result_out_of_range || magnitude > kMost) magnitude = kMost;
    const auto value = static_cast<std::int64_t>(magnitude);
    return negative ? -value : value;
  }

  SliceItem item() {
    if (take("...") || take("Ellipsis")) return {SliceItem::Kind::ellipsis, {}, {}, {}};
    if (take("None") || take("newaxis") || take("np.newaxis")) return {SliceItem::Kind::new_axis, {}, {}, {}};
    const auto start = number();
    if (!take(':')) {
      if (!start) fail("expected a number, \":\", \"...\" or \"None\"");
      return {SliceItem::Kind::index, start, {}, {}};
    }
    const auto stop = number();
    const auto step = take(':') ? number() : std::nullopt;
    return {SliceItem::Kind::range, start, stop, step};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

SliceSpec parse_slice(std::string_view text) { return Parser(text).parse(); }

}  // namespace tare
