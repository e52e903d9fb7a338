// The texts of the general section: their sources, and their valid forms.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "formats/alt/alt.hpp"

namespace tare::alt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Returns whether a text has this form, in which 0 means a digit and x a hexadecimal digit.
bool looks_like(std::string_view text, std::string_view form) {
  return std::ranges::equal(text, form, [](char c, char like) {
    return like == '0' ? is_digit(c) : like == 'x' ? is_hex(c) : c == like;
  });
}

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + digits, number);
  return number;
}

bool is_date(std::string_view text) {
  if (!looks_like(text, "0000-00-00")) return false;
  const int year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month >= 1 && month <= 12 && day >= 1 && day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// A date, a T and a time: alt.c copies it from the Hugging Face hub.
bool is_date_and_time(std::string_view text) {
  return text.size() >= 19 && is_date(text.substr(0, 10)) && looks_like(text.substr(10, 9), "T00:00:00");
}

bool is_uuid(std::string_view text) { return looks_like(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"); }

// Returns SOURCE_DATE_EPOCH as a date; empty if it is not set. The clock is never read: the same input gives the same
// bytes.
std::string date_of_source() {
  constexpr std::int64_t kLast = 253402300799;  // the end of the year 9999
  const char* const set = std::getenv("SOURCE_DATE_EPOCH");
  if (set == nullptr || *set == '\0') return {};
  const std::string_view text = set;
  std::int64_t seconds = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || seconds < 0 || seconds > kLast)
    throw Error(
        ErrorKind::usage, "alt.write.date",
        fmt::format("SOURCE_DATE_EPOCH is \"{}\"; it is a number of seconds since 1970, 0 to {}", quote(text), kLast));
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace

std::string metadata_text(const Model& model, std::string_view key) {
  const Value* const value = model.metadata.find(key);
  return value == nullptr || value->text() == nullptr ? std::string() : *value->text();
}

std::string general_text(const Model& model, std::string_view key) {
  if (key == "model_type") return model.config.model_type.value_or("");
  std::string text = metadata_text(model, key);
  return text.empty() && is_date_key(key) ? date_of_source() : text;
}

std::string general_problem(std::string_view key, std::string_view text, bool altc) {
  if (is_date_key(key) && !is_date(text) && !(altc && is_date_and_time(text)))
    return fmt::format("{} is \"{}\", not a date YYYY-MM-DD", key, quote(text));
  if (key == "uuid" && !is_uuid(text))
    return fmt::format("uuid is \"{}\", not five groups of hexadecimal digits (8-4-4-4-12)", quote(text));
  return {};
}

std::string set_problem_v2(std::string_view key, std::string_view text) {
  return text.empty() ? std::string() : general_problem(key, text, false);
}

std::string uuid_of(const Digest& digest) {
  std::array<std::byte, 16> bits{};
  std::copy(digest.bytes().begin(), digest.bytes().end(), bits.begin());
  bits[6] = (bits[6] & std::byte{0x0F}) | std::byte{0x80};
  bits[8] = (bits[8] & std::byte{0x3F}) | std::byte{0x80};
  std::string text = to_hex(bits);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, 1, '-');
  return text;
}

}  // namespace tare::alt
