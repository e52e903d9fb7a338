#include <bit>
#include <cmath>

#include "base/endian.hpp"
#include "base/half.hpp"
#include "base/text.hpp"
#include "wire/cbor.hpp"

namespace tare::wire {

bool is_one_item(std::span<const std::byte> bytes, unsigned depth, const CborRules& rules) {
  try {
    CborReader reader(bytes, {}, 0, depth, rules);
    reader.skip();
    return reader.at_end();
  } catch (const Error&) {
    return false;
  }
}

void CborWriter::head(CborMajor major, std::uint64_t value) {
  const auto top = static_cast<std::uint8_t>(static_cast<unsigned>(major) << 5);
  if (value < 24) return byte(static_cast<std::uint8_t>(top | value));
  const unsigned log = value <= 0xFF ? 0 : value <= 0xFFFF ? 1 : value <= 0xFFFFFFFF ? 2 : 3;
  byte(static_cast<std::uint8_t>(top | (24 + log)));
  std::byte big[8];
  store_be(big, value);
  const std::size_t length = std::size_t{1} << log;
  out_.insert(out_.end(), big + 8 - length, big + 8);
}

void CborWriter::raw(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

void CborWriter::text(std::string_view text) {
  head(CborMajor::text, text.size());
  raw(std::as_bytes(std::span(text)));
}

void CborWriter::bytes(std::span<const std::byte> bytes) {
  head(CborMajor::bytes, bytes.size());
  raw(bytes);
}

void CborWriter::floating(double value) {
  const auto same = [&](double other) {
    return std::bit_cast<std::uint64_t>(other) == std::bit_cast<std::uint64_t>(value);
  };
  const float single = carry_to_f32(value);
  std::byte big[8];
  if (!same(carry_to_f64(single))) {
    byte(0xFB);
    store_be(big, value);
    return raw(big);
  }
  const auto bits = std::bit_cast<std::uint32_t>(single);
  const bool nan = std::isnan(single);
  // The upper bits of the NaN; an f16 holds ten.
  const auto half =
      nan ? static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | 0x7C00u | (bits >> 13 & 0x03FFu)) : f32_to_f16(single);
  if (!same(carry_to_f64(half))) {
    byte(0xFA);
    store_be(big, single);
    return raw(std::span(big).first(4));
  }
  byte(0xF9);
  store_be(big, half);
  raw(std::span(big).first(2));
}

void CborWriter::value(const Value& value) {
  struct Visitor {
    CborWriter& out;
    void operator()(std::monostate) const { out.byte(0xF6); }
    void operator()(bool v) const { out.byte(v ? 0xF5 : 0xF4); }
    void operator()(std::int64_t v) const {
      if (v >= 0)
        out.uint(static_cast<std::uint64_t>(v));
      else
        out.head(CborMajor::negative, static_cast<std::uint64_t>(-1 - v));
    }
    void operator()(std::uint64_t v) const { out.uint(v); }
    void operator()(double v) const { out.floating(v); }
    void operator()(const std::string& v) const {
      // CBOR text must be UTF-8; other strings are written as bytes.
      if (is_valid_utf8(v))
        out.text(v);
      else
        out.bytes(std::as_bytes(std::span(v)));
    }
    void operator()(const Bytes& v) const { out.bytes(v); }
    void operator()(const List& v) const {
      out.array(v.size());
      for (const Value& item : v) out.value(item);
    }
    void operator()(const Map& v) const {
      out.map(v.size());
      for (const auto& [key, item] : v) {
        out.text(key);
        out.value(item);
      }
    }
    void operator()(const Opaque& v) const {
      // Values of another syntax are written as bytes. So is anything that is not exactly one item, because it would
      // shift everything after it.
      if (v.syntax == "cbor" && is_one_item(v.bytes))
        out.raw(v.bytes);
      else
        out.bytes(v.bytes);
    }
  };
  std::visit(Visitor{*this}, value.data());
}

}  // namespace tare::wire
