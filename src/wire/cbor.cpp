#include "wire/cbor.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/budget.hpp"
#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace tare::wire {
namespace {

constexpr std::string_view kMajorNames[] = {
    "an unsigned integer", "a negative integer", "a byte string", "a text", "an array", "a map", "a tag",
    "a simple value"};

std::string_view name_of(CborMajor major) { return kMajorNames[static_cast<std::size_t>(major)]; }

bool is_utf8(std::string_view text) {
  // Names are short and nearly always ASCII: check eight bytes at a time before the full check.
  std::size_t i = 0;
  std::uint64_t high = 0;
  for (; i + 8 <= text.size(); i += 8) high |= load_le<std::uint64_t>(text.data() + i);
  for (; i < text.size(); ++i) high |= static_cast<unsigned char>(text[i]);
  return (high & 0x8080808080808080u) == 0 || is_valid_utf8(text);
}

// Whether two keys have the same hash: far cheaper than sorting, and usually the final answer. The seed prevents
// crafted files whose keys collide.
bool has_equal_hashes(const std::vector<std::string_view>& keys) {
  const std::size_t slots = std::bit_ceil(keys.size() * 2 + 1);
  std::vector<std::uint64_t> table(slots);
  const auto seed = reinterpret_cast<std::uintptr_t>(table.data());
  for (const std::string_view key : keys) {
    const std::uint64_t hash = XXH3_64bits_withSeed(key.data(), key.size(), seed) | 1;  // 0: a free slot
    std::size_t at = (hash >> 1) & (slots - 1);
    for (; table[at] != 0; at = (at + 1) & (slots - 1))
      if (table[at] == hash) return true;
    table[at] = hash;
  }
  return false;
}

}  // namespace

CborReader::CborReader(std::span<const std::byte> bytes, std::string file, std::uint64_t offset, unsigned max_depth,
                       const CborRules& rules)
    : bytes_(bytes), rules_(&rules), file_(std::move(file)), base_(offset), max_depth_(max_depth) {}

void CborReader::fail_at(std::uint64_t offset, std::string_view rule, std::string_view sentence) const {
  throw Error(ErrorKind::corrupt, rule, sentence).in(file_).at(offset);
}

void CborReader::fail(std::string_view rule, std::string_view sentence) const { fail_at(offset(), rule, sentence); }

void CborReader::fail_type(std::uint64_t start, std::string_view what, CborMajor wanted, const Head& found) const {
  fail_at(
      start, rules_->type,
      fmt::format("{}{}expected {}, found {}", what, what.empty() ? "" : ": ", name_of(wanted), name_of(found.major)));
}

void CborReader::need(std::uint64_t count) const {
  if (count > remaining()) fail(rules_->truncated, fmt::format("{} more bytes needed, {} left", count, remaining()));
}

CborReader::Head CborReader::read_raw_head() {
  need(1);
  const std::uint8_t first = byte_at(position_++);
  Head head{static_cast<CborMajor>(first >> 5), static_cast<std::uint8_t>(first & 31), 0};
  if (head.info < 24) {
    head.value = head.info;
  } else if (head.info < 28) {
    const std::size_t length = std::size_t{1} << (head.info - 24);
    need(length);
    const std::byte* const at = bytes_.data() + position_;
    switch (length) {
      case 1: head.value = std::to_integer<std::uint8_t>(*at); break;
      case 2: head.value = load_be<std::uint16_t>(at); break;
      case 4: head.value = load_be<std::uint32_t>(at); break;
      default: head.value = load_be<std::uint64_t>(at); break;
    }
    position_ += length;
    if (head.major != CborMajor::simple) {
      static constexpr std::uint64_t kSmallest[] = {24, 0x100, 0x10000, 0x100000000};
      if (head.value < kSmallest[head.info - 24]) {
        if (rules_->deterministic)
          fail_at(offset() - length - 1, rules_->form,
                  fmt::format("the number {} is not in its shortest form", head.value));
        saw_long_head_ = true;
      }
    }
  } else if (head.info < 31) {
    fail_at(offset() - 1, rules_->reserved, fmt::format("byte {:#04x} is reserved", first));
  } else {
    const bool may = head.major >= CborMajor::bytes && head.major <= CborMajor::map && !rules_->deterministic;
    if (!may) fail_at(offset() - 1, rules_->reserved, fmt::format("byte {:#04x} is not allowed here", first));
    saw_indefinite_ = true;
  }
  return head;
}

CborReader::Head CborReader::read_head() {
  tagged_ = false;
  for (;;) {
    const std::uint64_t start = offset();
    const Head head = read_raw_head();
    if (head.major != CborMajor::tag) return head;
    if (rules_->deterministic) fail_at(start, rules_->reserved, "a tag is not allowed here");
    last_tag_ = head.value;
    tagged_ = saw_tag_ = true;
  }
}

CborMajor CborReader::peek() {
  const std::size_t start = position_;
  const Head head = read_head();
  position_ = start;
  return head.major;
}

bool CborReader::next_is_null() {
  const std::size_t start = position_;
  const Head head = read_head();
  if (head.major == CborMajor::simple && head.info == 22) return true;
  position_ = start;
  return false;
}

std::uint64_t CborReader::read_uint_slowly(std::string_view what) {
  const std::uint64_t start = offset();
  const Head head = read_head();
  if (head.major == CborMajor::uint) return head.value;
  if (tagged_ && last_tag_ == 2 && head.major == CborMajor::bytes) {
    // A bignum that may still fit.
    const std::string_view digits = take_string(head, CborMajor::bytes);
    std::uint64_t value = 0;
    for (const char digit : digits) {
      if (value >> 56 != 0) fail_at(start, rules_->type, "an integer above 64 bits");
      value = value << 8 | static_cast<unsigned char>(digit);
    }
    return value;
  }
  fail_type(start, what, CborMajor::uint, head);
}

std::string_view CborReader::take_string(const Head& head, CborMajor kind) {
  const auto take = [&](std::uint64_t length) {
    need(length);
    const std::string_view view(reinterpret_cast<const char*>(bytes_.data()) + position_, length);
    position_ += length;
    if (kind == CborMajor::text && !is_utf8(view))
      fail_at(offset() - length, rules_->utf8, "a text that is not valid UTF-8");
    return view;
  };
  if (!head.indefinite()) return take(head.value);
  std::string& whole = joined_.emplace_back();
  while (!is_break()) {
    const Head part = read_raw_head();
    if (part.major != kind || part.indefinite())
      fail(rules_->string, "a piece of an indefinite string is not a definite string of the same kind");
    whole += take(part.value);
  }
  ++position_;
  return whole;
}

// Like take_string, but does not join the pieces of an indefinite string: a file may have any number of those.
void CborReader::skip_string(const Head& head, CborMajor kind) {
  if (!head.indefinite()) return void(take_string(head, kind));
  while (!is_break()) {
    const Head part = read_raw_head();
    if (part.major != kind || part.indefinite())
      fail(rules_->string, "a piece of an indefinite string is not a definite string of the same kind");
    take_string(part, kind);
  }
  ++position_;
}

std::string_view CborReader::read_text_slowly(std::string_view what) {
  const std::uint64_t start = offset();
  const Head head = read_head();
  if (head.major != CborMajor::text) fail_type(start, what, CborMajor::text, head);
  return take_string(head, CborMajor::text);
}

std::span<const std::byte> CborReader::read_bytes() {
  const std::uint64_t start = offset();
  const Head head = read_head();
  if (head.major != CborMajor::bytes) fail_type(start, {}, CborMajor::bytes, head);
  return std::as_bytes(std::span(take_string(head, CborMajor::bytes)));
}

CborReader::Container CborReader::enter_slowly(CborMajor kind, std::string_view what) {
  const std::uint64_t start = offset();
  const Head head = read_head();
  if (head.major != kind) fail_type(start, what, kind, head);
  return open_container(head, start);
}

CborReader::Container CborReader::open_container(const Head& head, std::uint64_t start) {
  // The deterministic encoding has its bound on values; an empty container has none.
  if (depth_ >= max_depth_ && !(rules_->deterministic && head.value == 0))
    fail(rules_->depth, fmt::format("nested deeper than {} levels", max_depth_));
  ++depth_;
  // Every entry takes at least one byte, an entry of a map two.
  const std::uint64_t most = remaining() / (head.major == CborMajor::map ? 2 : 1);
  if (head.value > most)
    fail_at(start, rules_->count, fmt::format("{} entries promised, the bytes left allow {}", head.value, most));
  Container container;
  container.indefinite_ = head.indefinite();
  container.left_ = head.value;
  container.key_ = container.key_end_ = position_;
  return container;
}

bool CborReader::next_indefinite() {
  need(1);
  if (!is_break()) return true;
  ++position_;
  --depth_;
  return false;
}

void CborReader::skip() {
  const std::uint64_t start = offset();
  const Head head = read_head();
  switch (head.major) {
    case CborMajor::bytes:
    case CborMajor::text: skip_string(head, head.major); return;
    case CborMajor::array:
      for (Container items = open_container(head, start); next(items);) skip();
      return;
    case CborMajor::map:
      for (Container entries = open_container(head, start); next(entries);) {
        const std::size_t key = position_;
        skip();
        if (rules_->deterministic) check_key(entries, key);
        skip();
      }
      return;
    case CborMajor::simple:
      if (rules_->deterministic) check_simple(head, start);
      return;
    default: return;
  }
}

bool CborReader::next_entry(Container& entries, std::string_view& key) {
  if (!next(entries)) return false;
  const std::size_t begin = position_;
  key = read_short_text();
  if (key.data() == nullptr) {
    if (peek() == CborMajor::text)
      key = read_text_slowly({});
    else
      skip();
  }
  if (rules_->deterministic) check_key(entries, begin);
  return true;
}

// The keys of a deterministic map are in ascending order of their encoded bytes.
void CborReader::check_key(Container& entries, std::size_t begin) const {
  const auto last = between(entries.key_, entries.key_end_), key = between(begin, position_);
  entries.key_ = begin;
  entries.key_end_ = position_;
  const int order = std::memcmp(last.data(), key.data(), std::min(last.size(), key.size()));
  if (order < 0 || (order == 0 && last.size() < key.size())) return;
  if (order == 0 && last.size() == key.size())
    fail_at(base_ + begin, rules_->duplicate, "a key appears twice in one map");
  fail_at(base_ + begin, rules_->form, "the keys of a map are not in order");
}

void CborReader::check_simple(const Head& head, std::uint64_t start) const {
  if (head.info >= 20 && head.info <= 22) return;
  const auto check = [&](bool wide, bool nan) {
    if (nan) fail_at(start, rules_->form, "a NaN in another form than f9 7e 00");
    if (wide) fail_at(start, rules_->form, "a float is wider than its value asks for");
  };
  const auto f32 = std::bit_cast<float>(static_cast<std::uint32_t>(head.value));
  const auto f64 = std::bit_cast<double>(head.value);
  switch (head.info) {
    case 25:
      return check(false, std::isnan(f16_to_f32(static_cast<std::uint16_t>(head.value))) && head.value != 0x7E00);
    case 26: return check(f16_to_f32(f32_to_f16(f32)) == f32, std::isnan(f32));
    case 27: return check(static_cast<double>(f64_to_f32(f64)) == f64, std::isnan(f64));
    default: fail_at(start, rules_->reserved, "a simple value other than false, true and null");
  }
}

bool CborReader::read_simple(const Head& head, Value& out) {
  switch (head.info) {
    case 20: out = false; return true;
    case 21: out = true; return true;
    case 22: out = nullptr; return true;
    case 25: out = carry_to_f64(static_cast<std::uint16_t>(head.value)); return true;
    case 26: out = carry_to_f64(std::bit_cast<float>(static_cast<std::uint32_t>(head.value))); return true;
    case 27: out = std::bit_cast<double>(head.value); return true;
    default: return false;  // undefined and unassigned simple values
  }
}

// Reads the next item; returns false if the tree cannot hold it (the item is consumed nevertheless).
bool CborReader::read_into(Value& out) {
  // A value in memory is many times larger than its smallest encoding: a file of a billion nulls must not be trusted.
  charge(1);
  const std::uint64_t start = offset();
  const Head head = read_head();
  const bool plain = !tagged_;
  switch (head.major) {
    case CborMajor::uint: out = Value(head.value); return plain;
    case CborMajor::negative:
      if (head.value > static_cast<std::uint64_t>(INT64_MAX)) return false;
      out = -1 - static_cast<std::int64_t>(head.value);
      return plain;
    case CborMajor::text: out = take_string(head, CborMajor::text); return plain;
    case CborMajor::bytes: {
      const auto view = std::as_bytes(std::span(take_string(head, CborMajor::bytes)));
      out = Bytes(view.begin(), view.end());
      return plain;
    }
    case CborMajor::array: {
      List list;
      bool whole = plain;
      for (Container items = open_container(head, start); next(items);) whole = read_into(list.emplace_back()) && whole;
      out = std::move(list);
      return whole;
    }
    case CborMajor::map: {
      Map map;
      const bool whole = read_entries(open_container(head, start), map);
      out = std::move(map);
      return whole && plain;
    }
    default: return read_simple(head, out) && plain;
  }
}

bool CborReader::read_entries(Container entries, Map& out) {
  bool whole = true;
  const std::uint64_t start = offset();
  while (next(entries)) {
    if (peek() != CborMajor::text) {
      skip();
      skip();
      whole = false;
      continue;
    }
    const std::string_view key = read_text();
    charge(kKeyPrice);
    // Check at once, so that a map with one key a million times is not built first.
    if (out.find(key) != nullptr)
      fail_at(start, rules_->duplicate, fmt::format("the key \"{}\" appears twice in one map", quote(key)));
    Value value;
    whole = read_into(value) && whole;
    out.append(std::string(key), std::move(value));
  }
  return whole;
}

void CborReader::charge(std::uint64_t values) const {
  try {
    charge_values(values);
  } catch (Error& error) {
    throw error.in(file_).at(offset());
  }
}

Value CborReader::read_value() {
  const std::size_t start = position_;
  Value value;
  if (read_into(value)) return value;
  return Opaque{"cbor", Bytes(bytes_.begin() + static_cast<std::ptrdiff_t>(start),
                              bytes_.begin() + static_cast<std::ptrdiff_t>(position_))};
}

Map CborReader::read_map() {
  Map map;
  const std::uint64_t start = offset();
  for (Container entries = enter(CborMajor::map); next(entries);) {
    const std::string_view key = read_text();
    charge(kKeyPrice);
    if (map.find(key) != nullptr)
      fail_at(start, rules_->duplicate, fmt::format("the key \"{}\" appears twice in one map", quote(key)));
    map.append(std::string(key), read_value());
  }
  return map;
}

std::string_view KeyCheck::find_duplicate() {
  if (breaks_.empty()) return {};
  // Writers sort by type first and then by name, which gives few runs that are quickly merged.
  constexpr std::size_t kFewRuns = 8;
  if (breaks_.size() < kFewRuns) {
    const auto at = [&](std::size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    for (std::size_t run = 0; run < breaks_.size(); ++run)
      std::inplace_merge(keys_.begin(), at(breaks_[run]),
                         run + 1 < breaks_.size() ? at(breaks_[run + 1]) : keys_.end());
  } else {
    if (!has_equal_hashes(keys_)) return {};
    std::sort(keys_.begin(), keys_.end());
  }
  const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
  // An empty key still points into the file, so its view is not null.
  return twice == keys_.end() ? std::string_view() : *twice;
}

}  // namespace tare::wire
