#include "view/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tare/error.hpp"

namespace tare::view {
namespace {

Error bad_request(std::string_view sentence) { return Error(ErrorKind::usage, "view.request", sentence); }

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1,
                low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
      if (high < 0 || low < 0) throw bad_request("a % in the request is not followed by two hexadecimal digits");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

}  // namespace

Query Query::parse(std::string_view target) {
  if (target.size() > kMostTarget) throw bad_request(fmt::format("the request has more than {} bytes", kMostTarget));
  Query query;
  const std::size_t mark = std::min(target.find('?'), target.size());
  query.endpoint_ = std::string(target.substr(0, mark));
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest = rest.substr(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    if (query.parameters_.size() == kMostParameters)
      throw bad_request(fmt::format("the request has more than {} parameters", kMostParameters));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query.parameters_.emplace_back(unescape(pair.substr(0, equals)),
                                   unescape(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view key) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& entry) { return entry.first == key; });
  return found == parameters_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::string_view Query::text(std::string_view key, std::string_view fallback) const {
  return find(key).value_or(fallback);
}

std::string_view Query::short_text(std::string_view key, std::size_t most, std::string_view fallback) const {
  const std::string_view found = text(key, fallback);
  if (found.size() > most)
    throw bad_request(fmt::format("{}: expected at most {} bytes, found {}", key, most, found.size()));
  return found;
}

std::uint64_t Query::number(std::string_view key, std::uint64_t fallback, std::uint64_t least,
                            std::uint64_t most) const {
  const auto found = find(key);
  if (!found) return std::clamp(fallback, least, most);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(found->data(), found->data() + found->size(), value);
  if (problem != std::errc() || end != found->data() + found->size() || value < least || value > most)
    throw bad_request(fmt::format("{}: expected a whole number from {} to {}, found '{}'", key, least, most, *found));
  return value;
}

bool Query::flag(std::string_view key) const { return number(key, 0, 0, 1) == 1; }

std::string_view Query::choice(std::string_view key, std::span<const std::string_view> words) const {
  const auto found = find(key);
  if (!found) return words.front();
  const auto word = std::find(words.begin(), words.end(), *found);
  if (word == words.end())
    throw bad_request(fmt::format("{}: expected one of {}, found '{}'", key, fmt::join(words, ", "), *found));
  return *word;
}

}  // namespace tare::view
