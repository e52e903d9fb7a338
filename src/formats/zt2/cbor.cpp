#include "formats/zt2/cbor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "tare/error.hpp"

namespace tare::zt2 {
namespace {

constexpr std::string_view kKinds[] = {
    "an unsigned integer", "a negative integer", "a byte string", "a text", "an array", "a map", "a tag",
    "a simple value"};

std::string_view kind_name(CborMajor major) { return kKinds[static_cast<std::size_t>(major)]; }

// Names are short and nearly always ASCII: check eight bytes at a time before the full check.
bool is_ascii(const std::byte* text, std::size_t length) {
  std::uint64_t high = 0;
  std::size_t i = 0;
  for (; i + 8 <= length; i += 8) high |= load_le<std::uint64_t>(text + i);
  for (; i < length; ++i) high |= std::to_integer<std::uint64_t>(text[i]);
  return (high & 0x8080808080808080u) == 0;
}

}  // namespace

void Cbor::fail(std::string_view rule, std::size_t at, std::string_view sentence) const {
  throw Error(ErrorKind::corrupt, rule, sentence).at(base_ + at);
}

void Cbor::fail_schema(std::string_view sentence) const { fail("zt2.schema", at_, sentence); }

Cbor::Head Cbor::head() {
  const std::size_t start = at_;
  if (depth_ > kMaxDepth)
    fail("zt2.cbor.depth", start, fmt::format("the manifest is nested deeper than {} levels", kMaxDepth));
  const auto need = [&](std::size_t count) {
    if (remaining() < count)
      fail("zt2.cbor.syntax", start, fmt::format("{} more bytes needed, {} left", count, remaining()));
  };
  need(1);
  const std::uint8_t first = byte_at(at_++);
  Head head{static_cast<CborMajor>(first >> 5), static_cast<std::uint8_t>(first & 31), first & 31u};
  if (head.major == CborMajor::tag) fail("zt2.cbor.syntax", start, "a CBOR tag; manifests have none");
  if (head.info < 24) return head;
  if (head.info > 27)
    fail("zt2.cbor.syntax", start, fmt::format("byte {:#04x}: an indefinite length, or reserved", first));
  const std::size_t length = std::size_t{1} << (head.info - 24);
  need(length);
  const std::byte* const at = bytes_.data() + at_;
  switch (length) {
    case 1: head.value = std::to_integer<std::uint8_t>(*at); break;
    case 2: head.value = load_be<std::uint16_t>(at); break;
    case 4: head.value = load_be<std::uint32_t>(at); break;
    default: head.value = load_be<std::uint64_t>(at); break;
  }
  at_ += length;
  if (head.major == CborMajor::simple) return head;
  static constexpr std::uint64_t kSmallest[] = {24, 0x100, 0x10000, 0x100000000};
  if (head.value < kSmallest[head.info - 24])
    fail("zt2.cbor.form", start, fmt::format("the number {} is not in its shortest form", head.value));
  return head;
}

Cbor::Head Cbor::head_of(CborMajor wanted, std::string_view what) {
  const std::size_t start = at_;
  const Head found = head();
  if (found.major == wanted) return found;
  fail("zt2.schema", start, fmt::format("{}: expected {}, found {}", what, kind_name(wanted), kind_name(found.major)));
}

std::uint64_t Cbor::uint(std::string_view what) { return head_of(CborMajor::uint, what).value; }

std::string_view Cbor::take_text(std::uint64_t length) {
  if (length > remaining())
    fail("zt2.cbor.syntax", at_, fmt::format("a text of {} bytes, {} are left", length, remaining()));
  const std::byte* const start = bytes_.data() + at_;
  const std::string_view view(reinterpret_cast<const char*>(start), static_cast<std::size_t>(length));
  if (!is_ascii(start, view.size()) && !is_valid_utf8(view))
    fail("zt2.cbor.syntax", at_, "a text that is not valid UTF-8");
  at_ += view.size();
  return view;
}

std::string_view Cbor::text(std::string_view what) { return take_text(head_of(CborMajor::text, what).value); }

Cbor::Walk Cbor::enter(CborMajor kind, std::string_view what) { return open(head_of(kind, what)); }

Cbor::Walk Cbor::open(const Head& head) {
  // Every item takes at least one byte, an entry of a map two.
  const std::uint64_t most = remaining() / (head.major == CborMajor::map ? 2 : 1);
  if (head.value > most)
    fail("zt2.cbor.syntax", at_, fmt::format("{} entries, the bytes left allow {}", head.value, most));
  ++depth_;
  Walk walk;
  walk.left_ = head.value;
  walk.key_ = walk.key_end_ = at_;
  return walk;
}

bool Cbor::next_entry(Walk& walk, std::string_view& key) {
  if (!next_item(walk)) return false;
  const std::size_t begin = at_;
  if (remaining() > 0 && byte_at(at_) >> 5 == static_cast<unsigned>(CborMajor::text)) {
    key = take_text(head().value);
  } else {
    key = {};
    skip();
  }
  check_key(walk, begin);
  return true;
}

// Keys must be in ascending order of their encoded bytes; an equal key is a duplicate.
void Cbor::check_key(Walk& walk, std::size_t begin) {
  const auto last = between(walk.key_, walk.key_end_), key = between(begin, at_);
  walk.key_ = begin;
  walk.key_end_ = at_;
  const int order = std::memcmp(last.data(), key.data(), std::min(last.size(), key.size()));
  if (order < 0 || (order == 0 && last.size() < key.size())) return;
  if (order == 0 && last.size() == key.size()) fail("zt2.cbor.duplicate", begin, "a key appears twice in one map");
  fail("zt2.cbor.form", begin, "the keys of a map are not in order");
}

void Cbor::check_float(const Head& head) const {
  const std::size_t start = at_ - (std::size_t{1} << (head.info - 24)) - 1;
  const auto refuse_nan = [&] { fail("zt2.cbor.form", start, "a NaN in another form than f9 7e 00"); };
  const auto refuse_wide = [&] { fail("zt2.cbor.form", start, "a float is wider than its value asks for"); };
  switch (head.info) {
    case 25:
      if (std::isnan(f16_to_f32(static_cast<std::uint16_t>(head.value))) && head.value != 0x7E00) refuse_nan();
      return;
    case 26: {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(head.value));
      if (std::isnan(value)) refuse_nan();
      if (f16_to_f32(f32_to_f16(value)) == value) refuse_wide();
      return;
    }
    default: {
      const auto value = std::bit_cast<double>(head.value);
      if (std::isnan(value)) refuse_nan();
      if (static_cast<double>(f64_to_f32(value)) == value) refuse_wide();
    }
  }
}

void Cbor::skip() {
  const std::size_t start = at_;
  const Head head = this->head();
  switch (head.major) {
    case CborMajor::uint:
    case CborMajor::negative: return;
    case CborMajor::text: take_text(head.value); return;
    case CborMajor::bytes:
      if (head.value > remaining())
        fail("zt2.cbor.syntax", start, fmt::format("{} bytes, {} are left", head.value, remaining()));
      at_ += static_cast<std::size_t>(head.value);
      return;
    case CborMajor::array:
      for (Walk walk = open(head); next_item(walk);) skip();
      return;
    case CborMajor::map: {
      std::string_view key;
      for (Walk walk = open(head); next_entry(walk, key);) skip();
      return;
    }
    default: break;
  }
  if (head.info >= 25 && head.info <= 27) return check_float(head);
  if (head.info < 20 || head.info > 22)
    fail("zt2.cbor.syntax", start, "a simple value other than false, true and null");
}

void Cbor::expect_end() const {
  if (remaining() > 0)
    fail("zt2.cbor.syntax", at_, fmt::format("{} bytes follow the manifest's CBOR item", remaining()));
}

bool is_deterministic(std::span<const std::byte> bytes, unsigned depth) {
  try {
    Cbor cbor(bytes, 0, depth);
    cbor.skip();
    return cbor.remaining() == 0;
  } catch (const Error&) {
    return false;
  }
}

void put_map(wire::CborWriter& out, const Map& map, unsigned depth) {
  std::vector<const Map::Entry*> entries;
  entries.reserve(map.size());
  for (const auto& entry : map) {
    if (!is_valid_utf8(entry.first))
      throw Error(ErrorKind::unsupported, "zt2.write.name",
                  fmt::format("the metadata key {} is not UTF-8, as zTensor asks", quote(entry.first)));
    entries.push_back(&entry);
  }
  std::ranges::sort(entries, [](const auto* a, const auto* b) { return key_before(a->first, b->first); });
  const auto twice =
      std::ranges::adjacent_find(entries, [](const auto* a, const auto* b) { return a->first == b->first; });
  if (twice != entries.end())
    throw Error(ErrorKind::unsupported, "zt2.write.duplicate",
                fmt::format("the metadata key {} appears twice in one map", quote((*twice)->first)));
  out.map(entries.size());
  for (const auto* const entry : entries) {
    out.text(entry->first);
    put_value(out, entry->second, depth + 1);
  }
}

void put_value(wire::CborWriter& out, const Value& value, unsigned depth) {
  if (depth > Cbor::kMaxDepth)
    throw Error(ErrorKind::unsupported, "zt2.write.depth",
                fmt::format("the metadata is nested deeper than the {} levels that readers take", Cbor::kMaxDepth));
  if (const Map* const map = value.get<Map>()) return put_map(out, *map, depth);
  if (const List* const list = value.get<List>()) {
    out.array(list->size());
    for (const Value& item : *list) put_value(out, item, depth + 1);
    return;
  }
  if (const double* const number = value.get<double>(); number != nullptr && std::isnan(*number)) {
    static constexpr std::byte kNan[] = {std::byte{0xF9}, std::byte{0x7E}, std::byte{0x00}};
    return out.raw(kNan);
  }
  if (const Opaque* const opaque = value.get<Opaque>(); opaque != nullptr && opaque->syntax == "cbor") {
    if (!is_deterministic(opaque->bytes, depth))
      throw Error(ErrorKind::unsupported, "zt2.write.value",
                  "a metadata value is CBOR that zTensor 2 does not allow (a tag)")
          .remedy(Remedy::drop, "metadata");
    return out.raw(opaque->bytes);
  }
  out.value(value);
}

}  // namespace tare::zt2
